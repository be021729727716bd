/** The commands that `prefstream schedule` can start. Each one ends when its work is done, and supports a dry run. */
import { Effect } from "effect"
import { Command } from "effect/cli"

export const command = <Name extends string, Input, E, R>(
  name: Name,
  description: string,
  load: () => Promise<{ readonly command: Command.Command<Name, Input, {}, E, R> }>,
) => ({
  name,
  for: (args: ReadonlyArray<string>) =>
    args.includes(name)
      ? Effect.map(Effect.promise(load), (module) => Command.withShortDescription(module.command, description))
      : Effect.succeed(Command.make(name).pipe(Command.withShortDescription(description))),
})

export const schedulable = [
  command("run", "Run all steps, from items to preference pairs", () => import("./Run.ts")),
  command("submit", "Submit new items without waiting for results", () => import("./Submit.ts")),
  command("collect", "Wait for results", () => import("./Collect.ts")),
  command("export", "Write the dataset from the ledger", () => import("./Export.ts")),
  command("ledger", "Check, back up, compact, or prune the ledger", () => import("./Ledger.ts")),
] as const
