/** The table of commands. `commands/Schedulable` loads only those that the command line names. */
import { Effect } from "effect"
import type { Command } from "effect/cli"
import { type Definitions, definitionsOf } from "./flags/Definition.ts"
import { command, schedulable } from "./commands/Schedulable.ts"

/** The annotated types of this function and the next break a cycle: `commands` contains calls that take them. */
const commandsNamed = (args: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Command.Command.Any>> =>
  Effect.suspend(() => commandsFor(args))

const allCommands: Effect.Effect<ReadonlyArray<Command.Command.Any>> = Effect.suspend(() =>
  commandsFor([...commandNames]),
)

const commands = [
  ...schedulable,
  command("import", "Import votes that were given elsewhere", () =>
    import("./commands/Import.ts").then((module) => module.importCommand),
  ),
  command("export-votes", "Print all votes as JSON Lines or CSV", () =>
    import("./commands/ExportVotes.ts").then((module) => module.exportVotesCommand),
  ),
  command("status", "Show the state of a job", () =>
    import("./commands/Status.ts").then((module) => module.statusCommand),
  ),
  command("plan", "Show how many votes per item an input needs, and what they cost", () =>
    import("./commands/Plan.ts").then((module) => module.planCommand),
  ),
  command("leaderboard", "Rate the models by the votes on their completions", () =>
    import("./commands/Leaderboard.ts").then((module) => module.leaderboardCommand),
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
  command("push", "Push a dataset to the Hugging Face Hub", () =>
    import("./commands/Push.ts").then((module) => module.pushCommand),
  ),
  command("resolve", "List and settle tasks that are in doubt, failed, invalid or refused", () =>
    import("./commands/Resolve.ts").then((module) => module.resolveCommand),
  ),
  command("schedule", "Run another command on a cron schedule", () =>
    import("./commands/Schedule.ts").then((module) => module.scheduleCommand),
  ),
  command("worker", "Process a job together with other workers, over PostgreSQL", () =>
    import("./commands/Worker.ts").then((module) => module.workerCommand),
  ),
  command("serve", "Run the annotation service", () =>
    import("./commands/Serve.ts").then((module) => module.serveCommand),
  ),
  command("init", "Inspect input files, and write prefstream.yaml", () =>
    import("./commands/Init.ts").then((module) => module.initCommand),
  ),
  command("config", "Show the settings that a command would use, and where each one is set", () =>
    import("./commands/Config.ts").then((module) => module.configCommand(commandsNamed, allCommands)),
  ),
  command("doctor", "Check what a job needs: ledger, service, token, clock, webhooks", () =>
    import("./commands/Doctor.ts").then((module) => module.doctorCommand),
  ),
  command("completion", "Print a script that completes commands and flags in a shell", () =>
    import("./commands/Completion.ts").then((module) => module.completionCommand(allCommands)),
  ),
] as const

export const commandNames: ReadonlySet<string> = new Set(commands.map(({ name }) => name))

/** The options of all commands. Running this effect loads every command. */
export const allDefinitions: Effect.Effect<Definitions> = Effect.map(allCommands, definitionsOf)

export const commandsFor = (args: ReadonlyArray<string>) => Effect.all(commands.map((each) => each.for(args)))
