/**
 * The commands by name.
 *
 * Guarantees: only the commands that a command line names are loaded. Of the others the root's help shows the
 * description that stands here.
 */
import { Effect } from "effect"
import { Command } from "effect/cli"

/** A command; one with nothing but its name and description where `args` don't name it. */
const command =
  <Name extends string, Input, E, R>(
    name: Name,
    description: string,
    load: () => Promise<Command.Command<Name, Input, {}, E, R>>,
  ) =>
  (args: ReadonlyArray<string>) =>
    args.includes(name)
      ? Effect.map(Effect.promise(load), Command.withShortDescription(description))
      : Effect.succeed(Command.make(name).pipe(Command.withShortDescription(description)))

const commands = [
  command("run", "Run the whole flow: items in, preference pairs out", () =>
    import("./commands/Run.ts").then((module) => module.runCommand),
  ),
  command("submit", "Submit new items, without waiting for results", () =>
    import("./commands/Submit.ts").then((module) => module.submitCommand),
  ),
  command("collect", "Wait for results", () => import("./commands/Collect.ts").then((module) => module.collectCommand)),
  command("export", "Write the dataset from the ledger", () =>
    import("./commands/Export.ts").then((module) => module.exportCommand),
  ),
  command("status", "Show the state of a job", () =>
    import("./commands/Status.ts").then((module) => module.statusCommand),
  ),
  command("inspect", "Show what files contain, and what a run would do", () =>
    import("./commands/Inspect.ts").then((module) => module.inspectCommand),
  ),
  command("validate", "Check the input: print each rejected record and its reason", () =>
    import("./commands/Validate.ts").then((module) => module.validateCommand),
  ),
  command("verify", "Check a dataset against its manifest", () =>
    import("./commands/Verify.ts").then((module) => module.verifyCommand),
  ),
  command("resolve", "List and settle tasks that are in doubt, failed, invalid or refused", () =>
    import("./commands/Resolve.ts").then((module) => module.resolveCommand),
  ),
  command("ledger", "Check, back up, compact or prune the ledger", () =>
    import("./commands/Ledger.ts").then((module) => module.ledgerCommand),
  ),
  command("schedule", "Run another command at the times of a cron expression", () =>
    import("./commands/Schedule.ts").then((module) => module.scheduleCommand),
  ),
  command("serve", "Serve the annotation service", () =>
    import("./commands/Serve.ts").then((module) => module.serveCommand),
  ),
] as const

export const commandsFor = (args: ReadonlyArray<string>) => Effect.all(commands.map((of) => of(args)))
