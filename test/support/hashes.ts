/** What a folder holds, for comparing two of them byte by byte. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** Every file below a folder with the hash of its bytes. */
export const hashes = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .map((file) => [file.slice(folder.length), createHash("sha256").update(readFileSync(file)).digest("hex")]),
  )

/** What tells how long things took, or has the hashes of what does: another one in each job. */
const timed = ["/report.html", "/report.json", "/manifest.json"]

/** The same of a dataset, but for the files that tell times. */
export const datasetHashes = (folder: string): Record<string, string> =>
  Object.fromEntries(Object.entries(hashes(folder)).filter(([path]) => !timed.includes(path)))
