"""`tf.data.experimental.CsvDataset` and `make_csv_dataset`.

An expression may use the names of `scope`.
"""

import gzip
import os
import tempfile


def scope(tf):
    """Returns two files, and functions that list what is read from them."""
    folder = tempfile.mkdtemp()
    a, b, packed = (os.path.join(folder, name) for name in ("a.csv", "b.csv", "a.gz"))
    text = 'x,y,z,w\n1,2.5,a,3\n,7.5,"b ""q"", c",\n3,,"two\nlines",40000000000\n'
    with open(a, "w") as file:
        file.write(text)
    with open(b, "w") as file:
        file.write("x,y,z,w\r\n9,1e3,k,5\r\nbad\r\n8,2,m,6\r\n")
    with gzip.open(packed, "wt") as file:
        file.write(text)

    def lines(*args, **named):
        data = tf.data.experimental.CsvDataset(*args, **{"header": True, **named})
        return [list(row) for row in data], [str(spec) for spec in data.element_spec]

    def batches(*args, **named):
        data = tf.data.experimental.make_csv_dataset(*args, **{"num_epochs": 1, "shuffle": False, **named})
        return [
            [(list(row[0].items()), row[1]) if isinstance(row, tuple) else list(row.items())] for row in data
        ]  # fmt: skip

    return {"tf": tf, "a": a, "b": b, "packed": packed, "lines": lines, "batches": batches, "missing": folder + "/no"}


def case(expression):
    """Returns the expression as a function of `tf`, over the names of `scope`."""
    return lambda tf: eval(expression, scope(tf))


CASES = [
    (name, case(name))
    for name in [
        "lines(a, [0, 0.0, '', tf.constant(0, tf.int64)])", "lines(a, [0, 0.0, '', tf.int64])",
        "lines(a, [0.0, ''], select_cols=[1, 2])", "lines(a, [0.0, ''], exclude_cols=[0, 3])",
        "lines(a, [0, 0.0])", "lines(b, [0, 0.0, '', 0])", "lines(missing, [0, 0.0, '', 0])",
        "lines(a, [tf.int32], select_cols=[2])", "lines([a, b], [''], select_cols=[2], header=True)",
        "lines(packed, [''], select_cols=[2], compression_type='GZIP')",
        "lines(a, ['', '', '', ''], field_delim=',', header=False)",
        "lines(a, ['-'], select_cols=[0], na_value='1')",
        "lines(a, [''], select_cols=[0], exclude_cols=[1])", "lines(a, ['', ''], select_cols=[0, 9])",
        "lines(a, [[['']]] * 4)", "lines(a, [''] * 4, buffer_size=0)", "lines(a, [''] * 4, buffer_size=3)",
        "batches(a, 2)", "batches(a, 2, label_name='y', select_columns=['x', 'y'])", "batches([a, b], 2)",
        "batches(a, 3, column_names=['p', 'q', 'r', 's'])", "batches(a, 3, select_columns=[2, 0])",
        "batches(b, 1, ignore_errors=True, column_defaults=[0, 0.0, '', 0])", "batches(a, 2, label_name='nope')",
        "batches(a, 2, select_columns=['x', 'x'])", "batches(a, 2, header=False)", "batches(missing, 2)",
        "batches(a, 2, select_columns=[9])", "batches(packed, 3, compression_type='GZIP', select_columns=['w'])",
        "batches(a, 2, num_rows_for_inference=1, select_columns=['x', 'y'])",
        "batches(a, 2, column_defaults=[0], select_columns=['x', 'y'])",
    ]
]  # fmt: skip
