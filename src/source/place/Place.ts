/** `open` only checks that the file exists. The stream reads it. */
import { Effect, type FileSystem, type Path, type Scope } from "effect"
import { type SourceError, unreadable } from "../record/SourceError.ts"
import type { Input } from "./Input.ts"
import * as LocalFile from "./LocalFile.ts"
import * as Pipe from "./Pipe.ts"
import { kindOf, unknownPlace } from "./PlaceName.ts"
import * as S3Object from "./S3Object.ts"

export const open = Effect.fn("Place.open")(function* (
  name: string,
): Effect.fn.Return<Input, SourceError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  switch (kindOf(name)) {
    case "local":
      return yield* LocalFile.open(name)
    case "standard input":
      return yield* Pipe.standardInput
    case "http":
      return yield* (yield* Effect.promise(() => import("./HttpFile.ts"))).open(name)
    case "s3":
      return yield* S3Object.open(name)
    case "gs":
      return yield* (yield* Effect.promise(() => import("./GoogleObject.ts"))).open(name)
    case "hf":
      return yield* (yield* Effect.promise(() => import("./HubDataset.ts"))).open(name)
    case "unknown":
      return yield* unreadable(name, unknownPlace)
  }
})
