/** With `--log-format json` or PREFSTREAM_LOG_FORMAT=json, each line of stderr is a JSON object. */
import { Config, Context, Effect, Option, Stdio } from "effect"
import * as Stderr from "./Stderr.ts"

export type LogFormat = "text" | "json"

export const Current = Context.Reference<LogFormat>("prefstream/cli/LogFormat", { defaultValue: () => "text" })

const isFormat = (word: string): word is LogFormat => word === "text" || word === "json"

export const split = (args: ReadonlyArray<string>) => {
  const rest: Array<string> = []
  let format: string | undefined
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? ""
    if (word === "--") return { format, rest: [...rest, ...args.slice(i)] }
    if (word === "--log-format") format = args[++i] ?? ""
    else if (word.startsWith("--log-format=")) format = word.slice("--log-format=".length)
    else rest.push(word)
  }
  return { format, rest }
}

export const applied = Effect.fnUntraced(function* <E, R>(
  args: ReadonlyArray<string>,
  invalid: number,
  effect: Effect.Effect<number, E, R>,
): Effect.fn.Return<number, E | Config.ConfigError, R | Stdio.Stdio> {
  const flag = split(args).format
  const environment = yield* Config.option(Config.String("PREFSTREAM_LOG_FORMAT"))
  const format = flag ?? Option.getOrElse(environment, () => "text")
  if (format === "json" || (!isFormat(format) && Option.contains(environment, "json"))) Stderr.asJson()
  if (!isFormat(format)) {
    const name = flag === undefined ? "PREFSTREAM_LOG_FORMAT" : "--log-format"
    Stderr.print("error", `prefstream: ${name}: expected text or json, found ${JSON.stringify(format)}`)
    return invalid
  }
  if (format === "text") return yield* effect
  const stdio = yield* Stdio.Stdio
  return yield* effect.pipe(
    Effect.provideService(Current, format),
    Effect.provideService(Stdio.Stdio, Stdio.make({ ...stdio, stderrIsTerminal: Effect.succeed(false) })),
  )
})
