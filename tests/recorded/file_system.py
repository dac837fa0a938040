"""`tf.io.gfile`, patterns of file names, and how reading and writing fail.

Each case is an expression that runs in a new folder with the files of `program`; the folder is `@` in results.
"""

import os
import tempfile
from pathlib import Path

_NAMES = (
    "a.txt b.txt v1 w1 .hidden x[1] x1 a-b z] ^q q\\r star* A.txt !n - d/a.txt d/e/b.txt d/.h d2/c.txt lines crlf"
).split()  # fmt: skip
_PATTERNS = [
    "*", "*.txt", "./*.txt", "[^v]*", "[!v]*", "?1", "??", "x\\[1\\]", "x[[]1]", "[a-b].txt", "d/*", "d*/*", "*/*",
    "**", "**/*.txt", "d/**", "d/*/*", ".*", "d/.*", "[]z]*", "[^]z]*", "[z]]", "[a", "a.txt", "nothing", "nothing*",
    "", "d", "d/", "d/e", "*/", "d*/", "d//*", "./d/*", "star\\*", "star[*]", "q\\\\r", "[\\^]q", "[\\]z]]", "a[-]b",
    "a[+--]b", "[a-]*", "{a,b}.txt", "?", "~", "d/../*.txt", "nosuch/*", "a.txt/*", "[[:alpha:]].txt",
    "[^[:alpha:]]*", "\\a.txt", "\\*", "[b-a].txt", "[]", "[^]", "a\\", "-", "[!-]*", "[^!n]*", "d/[a.]*",
    "d[/]a.txt", "d?a.txt", "*[]", "[[:no:]]*", "[[.a.]].txt", "[[=a=]].txt", "[a-\\b].txt", "d2/../d/e/*", "@/*.txt",
    "@/d/", "file://@/*.txt", "file://@/a.txt",
]  # fmt: skip


_EXPRESSIONS = r"""
sorted(g.glob(['*.txt', 'd/*', 'a.*']))
g.glob([])
g.glob(5)
g.glob(None)
g.glob(('v1', 'w1'))
io.matching_files(['*.txt', 'a.*', 'd/']).numpy().tolist()
io.matching_files([['*.txt']]).numpy().tolist()
io.matching_files('nosuch://*').numpy().tolist()
elements(data.Dataset.list_files(['*.txt', 'nothing*'], shuffle=False))
elements(data.Dataset.list_files(['*.txt', 'a*'], shuffle=False))
io.match_filenames_once('*.txt').shape.as_list()
F('crlf').readlines()
F('crlf', 'rb').readlines()
F('crlf').read()
F('crlf').readline()
list(F('crlf'))
F('crlf', 'rb').read()
F('lines').readlines()
[F('lines', 'rb').readline()]
list(F('lines', 'rb'))
F('crlf').read(14)
F('crlf').read(9)
F('crlf').read(10)
run(F('lines'), "read(); read(); read(3); readline(); readlines(); tell(); next()")
run(F('lines', 'rb'), "read(); read(); read(3); readline(); readlines(); tell(); next()")
run(F('lines'), "read(5); tell(); readline(); tell(); read(100); tell(); read(0)")
run(F('lines'), "seek(4); readline(); seek(100); tell(); read(); read(1); tell()")
run(F('lines'), "seek(-1); tell(); seek(-3, 2); read(); seek(2); seek(2, 1); tell()")
run(F('lines'), "seek(3, 2); tell(); read(); seek(0); readline()")
run(F('lines'), "seek(0, 3); seek(); seek(offset=1); tell(); seekable(); size()")
run(F('lines'), "seek(position=2); seek(2, position=2); tell()")
run(F('lines'), "read(-1); read(-5); tell()")
run(F('lines'), "read(2); close(); tell(); read()")
run(F('lines'), "read(None)")
run(F('lines'), "read('a')")
io.gfile.GFile('none').size()
F('none').read()
F('none').readline()
F('d').read()
F('d').size() > 0
F('none').seek(1)
F('none').tell()
F('none').flush()
F('none').close()
F(5).read()
F(None).read()
F(5).name
F(b'lines').read()
F(Path('lines')).read()
F(Path('lines')).name == Path('lines')
F('lines', 'q')
F('lines', 'rw')
F('lines', 'rt')
F('lines', 'br').read(3)
F('lines', 'rb+').mode
F('lines', '')
F('lines', 'x')
F('lines', 'rb').mode
F('lines').name
F('lines', mode=None)
F('lines', 5)
F('q\\r').read()
F('').read()
F('a\0b').read()
F('n' * 300).read()
F('lines/x').read()
run(F('w', 'w'), "write('new'); tell(); size(); flush(); size(); close(); size()") + [shown('w')]
run(F('lines', 'a'), "write('new'); tell(); flush(); read(); close()") + [shown('lines')]
run(F('lines', 'r+'), "read(); write('new'); flush(); read(); close()") + [shown('lines')]
run(F('lines', 'r+'), "write('new'); flush(); read(); close()") + [shown('lines')]
run(F('lines', 'r+'), "read(2); write('new'); close()") + [shown('lines')]
run(F('lines', 'w+'), "read(); write('new'); flush(); read(); close()") + [shown('lines')]
run(F('fresh', 'w+'), "write('new'); flush(); read(); seek(0); read(); close()") + [shown('fresh')]
run(F('lines', 'a+'), "read(); write('new'); flush(); close()") + [shown('lines')]
run(F('w', 'w'), "write(b'new'); close()") + [shown('w')]
run(F('w', 'wb'), "write('ö'); close()") + [shown('w')]
run(F('w', 'w'), "write(5); write(None); write(bytearray(b'x')); close()")
run(F('w', 'w'), "write('x'); close(); write('y'); close()") + [shown('w')]
run(F('w', 'w'), "write('x'); seek(0); readline(); tell(); close()") + [shown('w')]
run(F('lines', 'a'), "seek(0); readline(); readlines(); read(1); next()")
run(F('lines', 'r'), "write('x'); tell()")
run(F('lines', 'a'), "tell()")
run(F('fresh', 'w'), "tell()") + [g.exists('fresh')]
F('nosuch/w', 'w').write('x')
F('d', 'w').write('x')
F('nosuch/w', 'a').write('x')
F('lines/w', 'w').write('x')
run(F('/dev/full', 'w'), "write('x' * 100); flush(); close()")
run(F('/dev/full', 'wb'), "write('x' * 10_000_000); close()")
io.write_file('/dev/full', 'x' * 100)
io.write_file('/dev/full', 'x' * 10_000_000)
io.write_file('d', 'x')
io.write_file('lines/x', 'x')
io.write_file('', 'x')
io.write_file('a', ['x'])
[io.write_file('n/m/o', 'x'), shown('n/m/o')]
[io.write_file('file://@/n/o', 'x'), shown('n/o')]
io.write_file('nosuch://x', 'x')
io.read_file('nosuch://x')
io.read_file('d')
io.read_file('')
io.read_file('file://@/lines').numpy()
io.read_file('file:lines')
io.read_file('none')
io.read_file(5)
io.read_file('lines/x')
io.read_file('n' * 300)
g.mkdir('a.txt')
[g.mkdir('d'), g.isdir('d')]
g.mkdir('new/x')
[g.mkdir('new'), g.isdir('new')]
g.mkdir('a.txt/x')
[g.mkdir('new/'), g.isdir('new')]
g.mkdir('')
g.mkdir(5)
g.makedirs('a.txt')
[g.makedirs('new/x/y'), g.isdir('new/x/y')]
g.makedirs('a.txt/x')
g.makedirs('d')
g.makedirs('')
[g.makedirs('new/x/'), g.isdir('new/x')]
[g.makedirs('./new/../other/x'), sorted(g.listdir('.'))]
g.makedirs(5)
[g.makedirs('file://@/new/x'), os.path.isdir('new/x')]
[g.mkdir('file://@/new'), os.path.isdir('new')]
g.exists(5)
g.exists(None)
g.exists('')
g.exists(b'lines')
g.exists(Path('lines'))
g.exists('lines/x')
g.exists('lines/')
g.exists('d/')
g.exists('a\0b')
g.exists('n' * 300)
g.exists(['lines'])
g.exists(tf.constant('lines'))
g.isdir(5)
g.isdir('')
g.isdir('d')
g.isdir('lines')
g.isdir('none')
g.isdir('d/')
g.isdir(Path('d'))
g.isdir('lines/x')
g.isdir(None)
sorted(g.listdir('d'))
sorted(g.listdir('d/'))
g.listdir('lines')
g.listdir('none')
g.listdir('')
g.listdir(5)
sorted(g.listdir(b'd'))
sorted(g.listdir(Path('d')))
sorted(g.listdir('file://@/d'))
sorted(g.listdir('.'))
g.listdir('lines/x')
[(a, sorted(b), sorted(c)) for a, b, c in g.walk('.')][:1]
list(g.walk('d'))
list(g.walk('d', topdown=False))
list(g.walk('none'))
list(g.walk('lines'))
list(g.walk('none', onerror=lambda e: 1 / 0))
list(g.walk('d/'))
list(g.walk(b'd'))
list(g.walk(Path('d')))
list(g.walk('file://@/d'))
list(g.walk('./d'))
list(g.walk('@/d/e'))
[g.remove('lines'), g.exists('lines')]
g.remove('none')
g.remove('d')
g.remove('')
g.remove(5)
g.remove('lines/x')
[g.remove('file://@/lines'), g.exists('lines')]
[g.rmtree('d'), g.exists('d')]
g.rmtree('none')
[g.rmtree('lines'), g.exists('lines')]
g.rmtree('')
g.rmtree(5)
[g.rmtree('d/'), g.exists('d')]
[g.rmtree('file://@/d'), g.exists('d')]
[g.copy('lines', 'new'), shown('new')]
g.copy('lines', 'v1')
[g.copy('lines', 'v1', overwrite=True), shown('v1')]
g.copy('none', 'v1', True)
g.copy('none', 'n')
g.copy('lines', 'd')
g.copy('lines', 'd', True)
g.copy('lines', 'n/n')
g.copy('lines', 'lines')
g.copy(5, 'n')
g.copy('lines', '')
[g.copy('file://@/lines', 'file://@/n'), shown('n')]
[g.rename('lines', 'new'), shown('new'), g.exists('lines')]
g.rename('lines', 'v1')
[g.rename('lines', 'v1', True), shown('v1')]
g.rename('none', 'n')
g.rename('lines', 'd')
g.rename('lines', 'd', True)
[g.rename('d', 'n'), g.isdir('n')]
g.rename('d', 'd2', True)
g.rename('lines', 'n/n')
g.rename('lines', 'lines')
[g.rename('lines', 'lines', True), shown('lines')]
g.rename(5, 'n')
g.rename('', 'n')
g.rename('d', 'lines', True)
[g.rename('file://@/lines', 'file://@/n'), shown('n')]
[g.stat('lines').length, g.stat('lines').is_directory, g.stat('d').is_directory]
g.stat('none')
g.stat('lines/x')
g.stat(5)
g.stat('')
abs(g.stat('lines').mtime_nsec - os.stat('lines').st_mtime_ns) < 2 * 10**9
g.stat('file://@/lines').length
[g.join('a', 'b'), g.join('a/', 'b'), g.join('a', '/b'), g.join('', 'b'), g.join('a', ''), g.join('a')]
[g.join('gs://a', 'b'), g.join('gs://a/', 'b'), g.join('gs://a', '/b'), g.join('gs://a', 'b/', 'c')]
g.join(b'a', b'b')
g.join('a', b'b')
g.join(5, 'a')
g.join(Path('a'), 'b')
g.join('a', Path('b'))
'file' in g.get_registered_schemes(), '' in g.get_registered_schemes(), 'nosuch' in g.get_registered_schemes()
g.exists('nosuch://x')
g.isdir('nosuch://x')
g.glob('nosuch://x')
g.glob('nosuch://*')
g.listdir('nosuch://x')
g.stat('nosuch://x')
g.remove('nosuch://x')
g.rmtree('nosuch://x')
g.mkdir('nosuch://x')
g.makedirs('nosuch://x')
g.copy('nosuch://x', 'n')
g.copy('lines', 'nosuch://x')
g.rename('nosuch://x', 'n')
g.rename('lines', 'nosuch://x')
g.walk('nosuch://x').__next__()
g.exists('Nosuch://x')
g.exists('no_such://x')
g.exists('no-such://x')
g.exists('1s://x')
g.exists('://x')
g.exists('nosuch:/x')
g.exists('nosuch:x')
g.exists('nosuch://')
g.exists('a.b+c://x')
g.exists('file://@/lines')
g.exists('file:///nosuch')
g.exists('file://lines')
g.exists('file:/lines')
g.isdir('file://@/d')
g.exists('FILE://@/lines')
g.exists('file://localhost@/lines')
g.exists('file://')
g.exists('d/nosuch://x')
F('nosuch://x').read()
F('nosuch://x', 'w').write('x')
F('file://@/lines').read()
F('file://@/lines').name
run(F('file://@/w', 'w'), "write('x'); close()") + [shown('w')]
sorted(g.glob('file://@/d/*'))
sorted(g.glob('file://@/d*/*'))
g.glob('file://@/d')
v.Exists(5)
v.MkDir('a.txt')
v.MakeDirs('a.txt')
v.Glob('[^v]1')
v.FastGFile('crlf').readlines()
v.Exists('nosuch://x')
v.IsDirectory('nosuch://x')
v.ListDirectory('lines')
list(v.Walk('d'))
list(v.Walk('d', in_order=False))
v.Remove('none')
v.DeleteRecursively('none')
v.Stat('none')
v.Copy('lines', 'v1')
v.Rename('lines', 'v1')
v.Open('lines').read(3)
v.GFile('lines').read(3)
elements(data.TextLineDataset('file://@/lines'))
elements(data.TextLineDataset('nosuch://x'))
elements(data.TextLineDataset('none'))
elements(data.TextLineDataset('d'))
elements(data.TextLineDataset('lines', 'LZ4'))
elements(data.TextLineDataset('lines', 'gzip'))
elements(data.TextLineDataset('lines', 5))
elements(data.TextLineDataset('lines', 'GZIP'))
elements(data.TextLineDataset('lines', 'ZLIB'))
elements(data.TextLineDataset('crlf'))
elements(data.TextLineDataset(Path('lines')))
elements(data.TextLineDataset(5))
elements(data.TextLineDataset([['lines']]))
elements(data.FixedLengthRecordDataset('file://@/lines', 13))
elements(data.FixedLengthRecordDataset('nosuch://x', 13))
elements(data.FixedLengthRecordDataset('lines', 13, compression_type='LZ4'))
elements(data.FixedLengthRecordDataset('lines', 0))
elements(data.FixedLengthRecordDataset('lines', -1))
elements(data.FixedLengthRecordDataset('lines', 5, -1))
elements(data.FixedLengthRecordDataset('lines', 5, 0, -1))
elements(data.FixedLengthRecordDataset('lines', 5))
elements(data.FixedLengthRecordDataset('lines', 20, 10, 10))
elements(data.TFRecordDataset('nosuch://x'))
elements(data.TFRecordDataset('none'))
elements(data.TFRecordDataset('d'))
elements(data.TFRecordDataset('lines', 'LZ4'))
elements(data.TFRecordDataset('lines', 'gzip'))
elements(data.TFRecordDataset('lines', 5))
elements(data.TFRecordDataset('lines', 'NONE'))
elements(data.TFRecordDataset('lines'))
elements(data.TFRecordDataset('lines', 'GZIP'))
elements(data.TFRecordDataset('lines', 'ZLIB'))
elements(data.TFRecordDataset(5))
elements(data.TFRecordDataset([5]))
elements(data.TFRecordDataset('lines', buffer_size=-1))
elements(data.TFRecordDataset([['none']]))
elements(data.TFRecordDataset('lines', num_parallel_reads=0))
elements(data.TFRecordDataset('lines', num_parallel_reads=-3))
elements(data.TFRecordDataset(data.Dataset.range(2)))
elements(data.TFRecordDataset(data.Dataset.from_tensors('none')))
elements(data.TFRecordDataset([]))
elements(data.TFRecordDataset(Path('none')))
elements(data.TFRecordDataset(b'none'))
elements(data.TFRecordDataset(None))
elements(data.TFRecordDataset('none', tf.constant('LZ4')))
elements(data.TFRecordDataset('none', 'LZ4', num_parallel_reads=2))
data.TFRecordDataset('lines', 'LZ4').element_spec.dtype.name
data.TFRecordDataset('lines', 'LZ4', num_parallel_reads=2).element_spec.dtype.name
data.TextLineDataset('lines', 'LZ4').element_spec.dtype.name
data.FixedLengthRecordDataset('lines', 13, compression_type='LZ4').element_spec.dtype.name
data.FixedLengthRecordDataset('lines', -1).element_spec.dtype.name
run(W('file://@/w'), "write(b'x'); close()") + [elements(data.TFRecordDataset('file://@/w'))]
run(W('w'), "write(b'x'); close()") + [elements(data.TFRecordDataset('w', 'LZ4'))]
W('nosuch://x')
W('d')
W('nosuch/x')
W('w', 'LZ4')
W(5)
W('w', 'SNAPPY')
io.TFRecordOptions('LZ4')
io.TFRecordOptions(5)
W('w', 5)
W('w', 'gzip')
run(W('/dev/full'), "write(b'x'); flush(); close()")
run(W('/dev/full'), "write(b'x' * 10_000_000); flush(); close()")
run(W('/dev/full', 'GZIP'), "write(b'x'); flush(); close()")
run(W('/dev/full', 'ZLIB'), "write(os.urandom(10_000_000)); flush(); close()")
run(W('/dev/full'), "write(b'x'); close(); close()")
run(W('w'), "write(5); write(None); write('ö'); close(); close(); flush()")
three.save('nosuch://x')
three.save('lines')
three.save('lines/x')
data.Dataset.load('nosuch://x')
data.Dataset.load('none')
data.Dataset.load(5)
three.snapshot(5)
three.cache(5)
three.save(5)
[three.save('file://@/n'), [int(x) for x in data.Dataset.load('file://@/n')]]
elements(three.snapshot('nosuch://x'))
elements(three.snapshot('lines'))
[int(x) for x in three.snapshot('file://@/n')]
elements(three.cache('nosuch://x'))
elements(three.cache('lines/x'))
"""


def scope(tf):
    """Returns what the expressions may use."""
    names = {
        "tf": tf, "io": tf.io, "data": tf.data, "three": tf.data.Dataset.range(3), "os": os, "Path": Path,
        "g": tf.io.gfile, "v": tf.compat.v1.gfile, "F": tf.io.gfile.GFile, "W": tf.io.TFRecordWriter,
        "elements": lambda dataset: list(dataset.as_numpy_iterator()), "run": run,
        "shown": lambda path: Path(path).read_bytes().decode(),
    }  # fmt: skip
    return names


def run(file, calls):
    """Returns the results of several calls of methods of a file, or the classes of what they raise."""
    results = []
    for call in calls.split("; "):
        try:
            results.append(eval(f"file.{call}", {"file": file, "os": os}))
        except Exception as error:
            results.append(type(error).__name__)
    return results


def case(expression):
    def program(tf):
        previous, folder = os.getcwd(), tempfile.mkdtemp()
        for name in _NAMES:
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_bytes({"lines": b"one\ntwo\nthree", "crlf": b"a\r\nb\rc\n\r\n\xc3\xb6"}.get(name, b"text"))
        os.chdir(folder)
        try:
            return _replaced(eval(expression.replace("@", folder), scope(tf)), folder)
        finally:
            os.chdir(previous)

    return program


def _replaced(value, folder):
    if isinstance(value, list | tuple):
        return [_replaced(part, folder) for part in value]
    if isinstance(value, bytes):
        value = f"bytes: {value.decode()}"
    return value.replace(folder, "@") if isinstance(value, str) else value


def _of_patterns():
    for number, pattern in enumerate(_PATTERNS):
        yield f"sorted(g.glob({pattern!r}))"
        if number % 3 == 0:
            yield f"io.matching_files({pattern!r}).numpy().tolist()"
        if number % 3 == 1:
            yield f"elements(data.Dataset.list_files({pattern!r}, shuffle=False))"


CASES = [(expression, case(expression)) for expression in (*_of_patterns(), *_EXPRESSIONS.strip().splitlines())]
