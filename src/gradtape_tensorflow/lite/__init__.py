"""`tf.lite`: models for phones and microcontrollers. gradtape runs them by LiteRT, and does not convert to them."""
