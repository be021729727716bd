/** Recognizes unsupported formats and encodings, and pointer files, by their first bytes, and says what to do. */
import * as Windows1252 from "../../io/Windows1252.ts"

export const formatProblem = (head: Uint8Array): string | undefined => {
  const kind = kinds.find(({ magic, at = 0 }) => magic.every((byte, i) => head[at + i] === byte))
  return kind && `this is ${kind.name}; ${kind.advice}`
}

export const encodingProblem = (head: Uint8Array): string | undefined => {
  const encoding = encodingOf(head)
  if (encoding?.startsWith("UTF-32") === true) {
    return `this is ${encoding} text, expected UTF-8; convert it: iconv -f ${encoding} -t UTF-8 FILE > NEW`
  }
  if (encoding !== undefined)
    return `this is ${encoding} text, expected UTF-8; set --encoding ${encoding.toLowerCase()}`
  // A single invalid place may be damage, for which only its record is rejected.
  return Windows1252.countTextRuns(head) > 1
    ? "this text is not UTF-8, but probably Windows-1252; set --encoding windows-1252, or --encoding utf-8 to reject the records with invalid bytes"
    : undefined
}

interface Kind {
  readonly name: string
  readonly magic: ReadonlyArray<number>
  readonly at?: number
  readonly advice: string
}

const ascii = (text: string): ReadonlyArray<number> => [...new TextEncoder().encode(text)]

const unpackFirst = (program: string) => `unpack it first (${program} FILE), or compress it with gzip or zstd`
const toParquet = "write it as Parquet or JSONL with the program that made it"

const kinds: ReadonlyArray<Kind> = [
  {
    name: "a pointer of Git LFS, not the file itself",
    magic: ascii("version https://git-lfs.github.com/spec/"),
    advice: "get the file (git lfs install, then git lfs pull), or download it from its host",
  },
  {
    name: "a pointer of git-annex, not the file itself",
    magic: ascii("/annex/objects/"),
    advice: "get the file: git annex get FILE",
  },
  { name: "encrypted Parquet", magic: ascii("PARE"), advice: "write it without encryption" },
  { name: "an Arrow (Feather) file", magic: ascii("ARROW1"), advice: toParquet },
  { name: "a Feather (version 1) file", magic: ascii("FEA1"), advice: toParquet },
  {
    name: "an Arrow stream, as save_to_disk of Hugging Face datasets writes it",
    magic: [0xff, 0xff, 0xff, 0xff],
    advice: "write it as Parquet: datasets.Dataset.from_file(FILE).to_parquet(NEW)",
  },
  { name: "an ORC file", magic: ascii("ORC"), advice: toParquet },
  { name: "an Avro file", magic: [...ascii("Obj"), 1], advice: toParquet },
  {
    name: "an SQLite database",
    magic: ascii("SQLite format 3\0"),
    advice: 'export the table: sqlite3 -json FILE "SELECT * FROM name" > NEW.json',
  },
  {
    name: "a ZIP archive (or a workbook, .xlsx)",
    magic: [0x50, 0x4b, 0x03, 0x04],
    advice: "unpack it first (unzip FILE), or save the workbook's sheet as CSV",
  },
  { name: "an empty ZIP archive", magic: [0x50, 0x4b, 0x05, 0x06], advice: "name a file that has records" },
  { name: "an old Excel workbook", magic: [0xd0, 0xcf, 0x11, 0xe0], advice: "save its sheet as CSV in UTF-8" },
  { name: "a PDF", magic: ascii("%PDF-"), advice: "name a file of records" },
  {
    name: "a tar archive",
    magic: ascii("ustar"),
    at: 257,
    advice: "unpack it first (tar -xf FILE), and name its files",
  },
  { name: "compressed with bzip2", magic: ascii("BZh"), advice: unpackFirst("bunzip2") },
  { name: "compressed with xz", magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], advice: unpackFirst("unxz") },
  { name: "compressed with LZ4", magic: [0x04, 0x22, 0x4d, 0x18], advice: unpackFirst("unlz4") },
  {
    name: "compressed with Snappy",
    magic: [0xff, 0x06, 0x00, 0x00, ...ascii("sNaPpY")],
    advice: "unpack it first, or compress it with gzip or zstd",
  },
  { name: "compressed with compress (.Z)", magic: [0x1f, 0x9d], advice: unpackFirst("uncompress") },
  { name: "a 7-Zip archive", magic: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], advice: "unpack it first (7z x FILE)" },
  { name: "a RAR archive", magic: ascii("Rar!"), advice: "unpack it first (unrar x FILE)" },
  { name: "a NumPy array", magic: [0x93, ...ascii("NUMPY")], advice: toParquet },
  { name: "an HDF5 file", magic: [0x89, ...ascii("HDF")], advice: toParquet },
  { name: "a Python pickle", magic: [0x80, 0x04, 0x95], advice: toParquet },
  { name: "a Python pickle", magic: [0x80, 0x05, 0x95], advice: toParquet },
]

const isAsciiText = (byte: number): boolean => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d)

/** Recognizes a byte order mark, or the positions of NUL among the first four bytes of a text that begins with ASCII (RFC 4627, section 3). */
const encodingOf = (head: Uint8Array): string | undefined => {
  const [a, b, c, d] = head
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "UTF-32" : "UTF-16LE"
  if (a === 0xfe && b === 0xff) return "UTF-16BE"
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return "UTF-32"
  if (head.length < 4) return undefined
  const pattern = [...head.subarray(0, 4)].map((byte) => (byte === 0 ? "0" : isAsciiText(byte) ? "x" : "-")).join("")
  return { "000x": "UTF-32BE", "0x0x": "UTF-16BE", x000: "UTF-32LE", x0x0: "UTF-16LE" }[pattern]
}
