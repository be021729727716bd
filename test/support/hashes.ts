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

/** What tells where experts judged and how long they took, or has the hashes of what does: another one in each job. */
const own = ["/README.md", "/report.html", "/report.json", "/manifest.json"]

/** The same of a dataset, but for what is another one in each job. */
export const datasetHashes = (folder: string): Record<string, string> =>
  Object.fromEntries(Object.entries(hashes(folder)).filter(([path]) => !own.includes(path)))
