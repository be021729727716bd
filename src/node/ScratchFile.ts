/** Adapter: `node:fs`, for temporary files that only their owner can read. Synchronous calls save time. */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Schema, type Scope } from "effect"
import * as PrivateFile from "./PrivateFile.ts"

export interface ScratchFile {
  /** @returns the offset at which the bytes begin */
  readonly append: (bytes: Uint8Array) => number
  readonly read: (start: number, size: number) => Uint8Array
  readonly readInto: (bytes: Uint8Array, start: number) => void
  readonly close: () => void
}

/** A temporary file could not be read or written. */
export class ScratchFileFailed extends Schema.TaggedError<ScratchFileFailed>()("ScratchFileFailed", {
  /** The directory of the file. */
  path: Schema.String,
  /** The error of the system call. */
  cause: Schema.Defect(),
}) {
  override get message() {
    return `could not read or write a temporary file in ${this.path}: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

export const open = (path: string): ScratchFile => {
  const fd = openSync(path, "wx+", PrivateFile.mode)
  let end = 0
  const readInto = (bytes: Uint8Array, start: number) => {
    for (let at = 0; at < bytes.length;) {
      const count = readSync(fd, bytes, at, bytes.length - at, start + at)
      if (count === 0) throw new Error(`expected ${bytes.length} bytes at ${start}, found ${at}`)
      at += count
    }
  }
  return {
    append: (bytes) => {
      const start = end
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at, start + at)
      end = start + bytes.length
      return start
    },
    read: (start, size) => {
      const bytes = new Uint8Array(size)
      readInto(bytes, start)
      return bytes
    },
    readInto,
    close: () => closeSync(fd),
  }
}

export const isFailure = Schema.is(ScratchFileFailed)

export const attempt = <A>(evaluate: () => A): Effect.Effect<A, ScratchFileFailed> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(evaluate())
    } catch (cause) {
      if (isFailure(cause)) return Effect.fail(cause)
      throw cause
    }
  })

const prefix = "prefstream-scratch-"

export const temporary = (directory: string = tmpdir()): Effect.Effect<ScratchFile, never, Scope.Scope> => {
  const guarded = <A>(evaluate: () => A): A => {
    try {
      return evaluate()
    } catch (cause) {
      throw new ScratchFileFailed({ path: directory, cause })
    }
  }
  return Effect.acquireRelease(
    Effect.sync(() => {
      let opened: { readonly folder: string; readonly file: ScratchFile } | undefined
      const file = (): ScratchFile => (opened ??= openUnnamed(directory)).file
      return {
        append: (bytes) => guarded(() => file().append(bytes)),
        read: (start, size) => guarded(() => file().read(start, size)),
        readInto: (bytes, start) => guarded(() => file().readInto(bytes, start)),
        close: () => {
          if (opened === undefined) return
          opened.file.close()
          removeFolder(opened.folder)
        },
      } satisfies ScratchFile
    }),
    ({ close }) => Effect.sync(close),
  )
}

const openUnnamed = (directory: string) => {
  const folder = mkdtempSync(join(directory, prefix))
  const file = open(join(folder, "records"))
  removeFolder(folder)
  return { folder, file }
}

const removeFolder = (folder: string): void => {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // Some systems cannot remove a file while it is open. In this case, `close` removes the folder later.
  }
}
