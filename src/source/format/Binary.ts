/** Recognizes unsupported formats and encodings, and pointer files, by their first bytes. */
import * as OptionText from "../../io/OptionText.ts"
import * as Windows1252 from "../../io/Windows1252.ts"

export const formatProblem = (head: Uint8Array): string | undefined => {
  const kind = kinds.find(([magic, , , at = 0]) =>
    Buffer.from(magic, "latin1").every((byte, i) => head[at + i] === byte),
  )
  return kind && `this is ${kind[1]}; ${kind[2]}`
}

export const encodingProblem = (head: Uint8Array): string | undefined => {
  const encoding = encodingOf(head)
  if (encoding?.startsWith("UTF-32") === true) {
    return `this is ${encoding} text, expected UTF-8; convert it: iconv -f ${encoding} -t UTF-8 FILE > NEW`
  }
  if (encoding !== undefined)
    return `this is ${encoding} text, expected UTF-8; set ${OptionText.set({ encoding: encoding.toLowerCase() })}`
  return Windows1252.countTextRuns(head) > 1
    ? 'this text is not UTF-8, but probably Windows-1252; set `encoding: "windows-1252"`, or `encoding: "utf-8"` to reject the records with invalid bytes'
    : undefined
}

const unpackFirst = (program: string) => `unpack it first (${program} FILE), or compress it with gzip or zstd`
const toParquet = "write it as Parquet or JSONL with the program that made it"

const kinds: ReadonlyArray<readonly [magic: string, name: string, advice: string, at?: number]> = [
  [
    "version https://git-lfs.github.com/spec/",
    "a Git LFS pointer, not the file itself",
    "get the file (git lfs install, then git lfs pull), or download it from its host",
  ],
  ["/annex/objects/", "a git-annex pointer, not the file itself", "get the file: git annex get FILE"],
  ["PARE", "encrypted Parquet", "write it without encryption"],
  ["ARROW1", "an Arrow (Feather) file", toParquet],
  ["FEA1", "a Feather (version 1) file", toParquet],
  [
    "\xff\xff\xff\xff",
    "an Arrow stream, as written by save_to_disk in Hugging Face datasets",
    "convert it to Parquet: datasets.Dataset.from_file(FILE).to_parquet(NEW)",
  ],
  ["ORC", "an ORC file", toParquet],
  ["Obj\x01", "an Avro file", toParquet],
  ["SQLite format 3\0", "an SQLite database", 'export the table: sqlite3 -json FILE "SELECT * FROM name" > NEW.json'],
  [
    "PK\x03\x04",
    "a ZIP archive (or a workbook, .xlsx)",
    "unpack it first (unzip FILE), or save the workbook's sheet as CSV",
  ],
  ["PK\x05\x06", "an empty ZIP archive", "name a file that has records"],
  ["\xd0\xcf\x11\xe0", "an old Excel workbook", "save its sheet as CSV in UTF-8"],
  ["%PDF-", "a PDF", "name a file that has records"],
  ["ustar", "a tar archive", "unpack it first (tar -xf FILE), and name the extracted files", 257],
  ["BZh", "compressed with bzip2", unpackFirst("bunzip2")],
  ["\xfd7zXZ\0", "compressed with xz", unpackFirst("unxz")],
  ["\x04\x22\x4d\x18", "compressed with LZ4", unpackFirst("unlz4")],
  ["\xff\x06\0\0sNaPpY", "compressed with Snappy", "unpack it first, or compress it with gzip or zstd"],
  ["\x1f\x9d", "compressed with compress (.Z)", unpackFirst("uncompress")],
  ["7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first (7z x FILE)"],
  ["Rar!", "a RAR archive", "unpack it first (unrar x FILE)"],
  ["\x93NUMPY", "a NumPy array", toParquet],
  ["\x89HDF", "an HDF5 file", toParquet],
  ["\x80\x04\x95", "a Python pickle", toParquet],
  ["\x80\x05\x95", "a Python pickle", toParquet],
]

const isAsciiText = (byte: number): boolean => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d)

/** Detects UTF-16 and UTF-32: by a byte order mark, or by NUL bytes next to ASCII characters (RFC 4627, section 3). */
const encodingOf = (head: Uint8Array): string | undefined => {
  const [a, b, c, d] = head
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "UTF-32" : "UTF-16LE"
  if (a === 0xfe && b === 0xff) return "UTF-16BE"
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return "UTF-32"
  if (head.length < 4) return undefined
  const pattern = [...head.subarray(0, 4)].map((byte) => (byte === 0 ? "0" : isAsciiText(byte) ? "x" : "-")).join("")
  return { "000x": "UTF-32BE", "0x0x": "UTF-16BE", x000: "UTF-32LE", x0x0: "UTF-16LE" }[pattern]
}
