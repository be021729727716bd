/** All that a folder holds, as text: for looking whether a secret is among it. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { zstdDecompressSync } from "node:zlib"

/** Every file below a folder, and every cell of its databases, unpacked. */
export const traces = (folder: string): ReadonlyArray<readonly [place: string, text: string]> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name}`)
    .filter((file) => statSync(file).isFile())
    .flatMap((file) => [
      [file, readFileSync(file, "latin1")] as const,
      ...(file.endsWith(".db") ? cells(file).map((text) => [file, text] as const) : []),
    ])

const cells = (file: string): ReadonlyArray<string> => {
  const database = new DatabaseSync(file, { readOnly: true })
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const rows = tables.flatMap(({ name }) => database.prepare(`SELECT * FROM "${String(name)}"`).all())
  database.close()
  return rows.flatMap(Object.values).map((cell: unknown) => {
    if (!(cell instanceof Uint8Array)) return String(cell)
    const packed = cell[0] === 0x28 && cell[1] === 0xb5
    return Buffer.from(packed ? zstdDecompressSync(cell) : cell).toString()
  })
}
