/** A command's module is loaded only if the command line names the command. */
import { Effect } from "effect"
import { command, schedulable } from "./commands/Schedulable.ts"

const commands = [
  ...schedulable,
  command("import", "Import votes from other tools", () => import("./commands/Import.ts")),
  command("export-votes", "Print all votes as JSON Lines or CSV", () => import("./commands/ExportVotes.ts")),
  command("status", "Show the state of a job", () => import("./commands/Status.ts")),
  command("plan", "Show how many votes per item an input needs, and their cost", () => import("./commands/Plan.ts")),
  command(
    "leaderboard",
    "Rate the models by the votes on their completions",
    () => import("./commands/Leaderboard.ts"),
  ),
  command(
    "audit",
    "Compare automatic judges with people: agreement, biases, cost",
    () => import("./commands/Audit.ts"),
  ),
  command("inspect", "Show what input files contain, and what a run would do", () => import("./commands/Inspect.ts")),
  command(
    "validate",
    "Check the input: print each rejected record and its reason",
    () => import("./commands/Validate.ts"),
  ),
  command("evaluate", "Compare a reward model's scores with a dataset", () => import("./commands/Evaluate.ts")),
  command("verify", "Check a dataset against its manifest", () => import("./commands/Verify.ts")),
  command("diff", "Compare the pairs of two datasets", () => import("./commands/Diff.ts")),
  command("push", "Push a dataset to the Hugging Face Hub", () => import("./commands/Push.ts")),
  command(
    "resolve",
    "List and resolve tasks that are in doubt, failed, invalid, or refused",
    () => import("./commands/Resolve.ts"),
  ),
  command("schedule", "Run another command on a cron schedule", () => import("./commands/Schedule.ts")),
  command(
    "worker",
    "Process a job together with other workers that share a PostgreSQL ledger",
    () => import("./commands/Worker.ts"),
  ),
  command("serve", "Run the annotation service", () => import("./commands/Serve.ts")),
  command("init", "Inspect input files, and write prefstream.yaml", () => import("./commands/Init.ts")),
  command(
    "config",
    "Show the settings that a command would use, and where each one is set",
    () => import("./commands/Config.ts"),
  ),
  command(
    "doctor",
    "Check what a job needs: ledger, service, token, clock, webhooks",
    () => import("./commands/Doctor.ts"),
  ),
  command("completion", "Print a shell completion script", () => import("./commands/Completion.ts")),
] as const

export const commandNames: ReadonlySet<string> = new Set(commands.map(({ name }) => name))

export const commandsFor = (args: ReadonlyArray<string>) => Effect.all(commands.map((each) => each.for(args)))
