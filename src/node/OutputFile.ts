/**
 * Adapter: `node:fs`, to write new files and compute their SHA-256. `finish` returns after the file is on disk. If
 * somebody removed the file meanwhile, `finish` fails.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"
import * as Sha256 from "./Sha256.ts"

export interface OutputFile {
  /** The caller may reuse `bytes` afterwards. */
  readonly append: (bytes: Uint8Array) => void
  readonly finish: () => FileDigest
  readonly close: () => void
}

export interface FileDigest {
  readonly bytes: number
  readonly sha256: string
}

const about = <A>(path: string, call: () => A): A => {
  try {
    return call()
  } catch (error) {
    throw Object.assign(error as NodeJS.ErrnoException, { path })
  }
}

const makeFolder = (path: string) => {
  try {
    mkdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}

export const create = (directory: string, path: string): OutputFile => {
  const absolute = join(directory, path)
  // If `directory` was removed, this must fail. `mkdirSync` with `recursive` would create an empty `directory`.
  const [, ...folders] = path.split("/").map((_, i, parts) => parts.slice(0, i).join("/"))
  for (const folder of folders) makeFolder(join(directory, folder))
  const fd = openSync(absolute, "wx")
  const sha256 = Sha256.makeHasher()
  let size = 0
  let isOpen = true

  const close = () => {
    if (isOpen) closeSync(fd)
    isOpen = false
  }
  return {
    append: (bytes) => {
      sha256.update(bytes)
      size += bytes.length
      about(absolute, () => {
        for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
      })
    },
    finish: () =>
      about(absolute, () => {
        fsyncSync(fd)
        close()
        statSync(absolute)
        return { bytes: size, sha256: sha256.digest() }
      }),
    close,
  }
}

export const write = (directory: string, path: string, content: Uint8Array): FileDigest => {
  const file = create(directory, path)
  try {
    file.append(content)
    return file.finish()
  } finally {
    file.close()
  }
}

export const rename = (directory: string, from: string, to: string): void =>
  about(join(directory, to), () => renameSync(join(directory, from), join(directory, to)))

const copyBytes = 1024 * 1024

export const prepend = (directory: string, path: string, text: string): FileDigest => {
  const rest = `${path}.rest`
  rename(directory, path, rest)
  const source = openSync(join(directory, rest), "r")
  const file = create(directory, path)
  try {
    file.append(Buffer.from(text))
    const buffer = Buffer.allocUnsafeSlow(copyBytes)
    for (let size = 1; size > 0;) {
      size = about(join(directory, rest), () => readSync(source, buffer))
      file.append(buffer.subarray(0, size))
    }
    rmSync(join(directory, rest))
    return file.finish()
  } finally {
    closeSync(source)
    file.close()
  }
}
