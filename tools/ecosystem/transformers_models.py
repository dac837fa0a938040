"""transformers: BERT, GPT-2, T5 and ViT from a configuration: outputs, a training step by tape, generated tokens."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["USE_TF"] = "1"
os.environ["USE_TORCH"] = "0"

import numpy as np
import tensorflow as tf
import transformers
from weights import norms, set_weights

SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def train(model, inputs, found, name):
    """Two steps of Adam on the model's own loss."""
    model(inputs)
    set_weights(model, scale=0.2)
    optimizer = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def step(inputs):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(inputs, training=True).loss)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(
            pair for pair in zip(gradients, model.trainable_variables, strict=True) if pair[0] is not None
        )
        return loss, [tf.convert_to_tensor(gradient) for gradient in gradients if gradient is not None]

    found[f"{name} logits"] = model(inputs).logits
    loss, gradients = step(inputs)
    found[f"{name} gradients"] = norms(gradients)
    found[f"{name} losses"] = [float(loss), float(step(inputs)[0]), float(tf.reduce_mean(model(inputs).loss))]


def numbers():
    random = np.random.RandomState(0)
    tokens = tf.constant(random.randint(1, 40, (2, 6)), tf.int32)
    found = {}
    bert = transformers.TFBertForSequenceClassification(
        transformers.BertConfig(vocab_size=40, max_position_embeddings=16, num_labels=3, **SMALL, **NO_DROPOUT)
    )
    train(bert, {"input_ids": tokens, "labels": tf.constant([0, 2])}, found, "BERT")
    gpt2 = transformers.TFGPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=40, n_positions=16, n_embd=16, n_layer=2, n_head=2, resid_pdrop=0.0, embd_pdrop=0.0,
            attn_pdrop=0.0, bos_token_id=0, eos_token_id=0, pad_token_id=0,
        )
    )  # fmt: skip
    train(gpt2, {"input_ids": tokens, "labels": tokens}, found, "GPT-2")
    found["GPT-2 greedy"] = gpt2.generate(tokens, max_length=12, do_sample=False, attention_mask=tf.ones_like(tokens))
    found["GPT-2 beams"] = gpt2.generate(tokens, max_length=10, num_beams=3, attention_mask=tf.ones_like(tokens))
    t5 = transformers.TFT5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=40, d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2, dropout_rate=0.0,
            decoder_start_token_id=0,
        )
    )  # fmt: skip
    train(t5, {"input_ids": tokens, "labels": tokens[:, ::-1]}, found, "T5")
    vit = transformers.TFViTForImageClassification(
        transformers.ViTConfig(image_size=16, patch_size=8, num_labels=3, **SMALL, **NO_DROPOUT)
    )
    pixels = tf.constant(random.randn(2, 3, 16, 16).astype("float32"))
    train(vit, {"pixel_values": pixels, "labels": tf.constant([0, 2])}, found, "ViT")
    return found
