/** Checks the options of the service at run time, for programs without a type check. */
import { Effect, Layer, Predicate, Schema } from "effect"
import * as Kinds from "../io/SettingKinds.ts"
import { describeValue } from "../io/Values.ts"

/** An option of the service is missing or of the wrong kind. It is reported before anything is opened. */
export class ServiceOptionInvalid extends Schema.TaggedError<ServiceOptionInvalid>()("ServiceOptionInvalid", {
  /** The name of the option. */
  option: Schema.String,
  /** A description of the allowed values. */
  expected: Schema.String,
  /** The value that was given, as text. */
  found: Schema.String,
}) {
  override get message() {
    return `${this.option}: expected ${this.expected}, found ${this.found}`
  }
}

const kinds: Kinds.Kinds = {
  ...Kinds.all(Kinds.object, "judge limits"),
  ...Kinds.all(Kinds.time, "turnaround hold undoGrace"),
  ...Kinds.all(Kinds.text, "gold publicUrl host"),
  ...Kinds.all(Kinds.flag, "cancelUnanswered allowRepeatedVotes pages allowPrivateWebhooks"),
  ...Kinds.all(Kinds.number, "votes port"),
  token: Kinds.redacted,
  rateLimit: ["an object, or none", (value) => value === "none" || Kinds.object[1](value)],
  requestTimeout: Kinds.timeAbove0,
  imageHosts: Kinds.texts,
}

const isExpert = (value: unknown): boolean => typeof value === "string" || Predicate.hasProperty(value, "judge")

const problemOf = (options: object, hasDatabase: boolean): ServiceOptionInvalid | undefined => {
  const invalid = (option: string, expected: string, value: unknown) =>
    new ServiceOptionInvalid({ option, expected, found: describeValue(value) })
  if (!Predicate.isObject(options)) return invalid("options", "an object with `experts`", options)
  const { database, experts } = options as { readonly database?: unknown; readonly experts?: unknown }
  if (!Array.isArray(experts)) return invalid("experts", "a list of experts", experts)
  const wrong = experts.findIndex((expert) => !isExpert(expert))
  if (wrong >= 0) return invalid(`experts[${wrong}]`, "a name, or an object with `judge`", experts[wrong])
  if (hasDatabase && !Kinds.text[1](database)) return invalid("database", "the path of a file", database)
  const other = Kinds.wrongIn(options, kinds)
  return other && new ServiceOptionInvalid({ ...other, option: other.setting })
}

export const checked = <A, E, R>(
  options: object,
  hasDatabase: boolean,
  layer: () => Layer.Layer<A, E, R>,
): Layer.Layer<A, E | ServiceOptionInvalid, R> =>
  Layer.unwrap(
    Effect.suspend(() => {
      const problem = problemOf(options, hasDatabase)
      return problem === undefined ? Effect.succeed(layer()) : Effect.fail(problem)
    }),
  )
