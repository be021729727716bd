/**
 * The flags of every command that works a job, for those who start it unattended: how long to
 * wait for another run of the same job, and to finish what is under way when stopped; what
 * counts as done; and when to say nothing.
 */
import { Cause, Console, Duration, Effect, Option, Schedule, Schema, type Stdio } from "effect"
import { Flag } from "effect/cli"
import * as FileLock from "../../node/FileLock.ts"
import { LimitsNotKept } from "../../pipeline/Export.ts"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import * as RunReport from "../../pipeline/RunReport.ts"
import { AnnotationClientError } from "../../task/client/AnnotationClientError.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { messageOf } from "../output/Failure.ts"
import * as Quiet from "../output/Quiet.ts"
import * as Settings from "../flags/Settings.ts"
import * as Stop from "../output/Stop.ts"
import { say } from "../output/Messages.ts"

const grace = Settings.duration("grace").pipe(
  Flag.withDescription(
    `Time that requests under way have to finish when stopped (default: 5s more than one may take, ${Duration.format(Pipeline.defaultGrace)})`,
  ),
  Flag.optional,
)

/** As the flag says, or else the pipeline. */
export const graceOf = (
  flags: Pick<JobFlags, "grace">,
  pipeline?: { readonly grace?: Duration.Input | undefined },
): Duration.Input | undefined => Option.getOrElse(flags.grace, () => pipeline?.grace)

/** Gives requests under way this time, or else that of the service, when the effect is stopped. */
export const withGrace =
  (grace: Duration.Input | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Pipeline.graceOf({ grace }), (time) => Stop.withGrace(time)(effect))

export const jobFlags = {
  lockWait: Settings.duration("lock-wait").pipe(
    Flag.withDescription(
      `Wait this long for another run over the same job to end, before giving up with ${ExitStatus.busy}`,
    ),
    Flag.optional,
  ),
  grace,
  waitingOk: Flag.Boolean("waiting-ok").pipe(
    Flag.withDescription(
      `Exit with ${ExitStatus.done}, not ${ExitStatus.waiting}, while results are outstanding: for schedulers that know only success and failure`,
    ),
    Flag.withDefault(false),
  ),
  quiet: Flag.Boolean("quiet").pipe(
    Flag.withAlias("q"),
    Flag.withDescription(
      "Print nothing where all is well, also while results are outstanding; and everything where it is not",
    ),
    Flag.withDefault(false),
  ),
}

interface JobFlags {
  readonly grace: Option.Option<Duration.Duration>
  readonly waitingOk: boolean
  readonly quiet: boolean
  readonly json: boolean
}

const isFinished = Schema.is(ExitStatus.Finished)

const isWaiting = (failure: unknown): boolean => isFinished(failure) && failure.status === ExitStatus.waiting

/** Whether it is worth telling that a command failed: not that it waits. */
const isNews = (cause: Cause.Cause<unknown>): boolean => !isWaiting(Cause.squash(cause))

/** Carries out a command that works a job as its flags say. */
export const asJob = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  flags: JobFlags,
): Effect.Effect<void, E, R | Stdio.Stdio> =>
  Effect.asVoid(flags.quiet ? Quiet.unless(effect, isNews, { stdout: !flags.json }) : effect).pipe(
    Effect.catch((failure) => (flags.waitingOk && isWaiting(failure) ? Effect.void : Effect.fail(failure))),
    Stop.withGrace(Option.getOrElse(flags.grace, () => Pipeline.defaultGrace)),
  )

const isClientError = Schema.is(AnnotationClientError)

/**
 * Where a service broke down and left tasks in doubt, these are what the command ends with:
 * the failure is told, and then how the job stands.
 */
export const orInDoubt = <E, R>(effect: Effect.Effect<RunReport.RunReport, E, R>) =>
  Effect.catchIf(
    effect,
    isClientError,
    Effect.fnUntraced(function* (failure) {
      const report = yield* RunReport.make({})
      if (report.status !== "in_doubt") return yield* failure
      yield* say(messageOf(failure))
      return report
    }),
  )

/** A dataset that did not keep to its limits: that is told, and then how the job stands. */
export const orLimits = <E, R>(effect: Effect.Effect<RunReport.RunReport, E, R>) =>
  Effect.catchIf(
    effect,
    isLimitsNotKept,
    Effect.fnUntraced(function* (failure) {
      yield* say(failure.message)
      return { ...(yield* RunReport.make({})), status: "limits_not_kept" as const }
    }),
  )

const isLimitsNotKept = Schema.is(LimitsNotKept)

const isFileLockError = Schema.is(FileLock.FileLockError)

/** Whether something failed because another process works the same job. */
export const isBusy = (failure: unknown): boolean => isFileLockError(failure) && failure.reason._tag === "FileLocked"

/** Starts again, until the time is over, while another process works the same job. */
export const waitForOthers =
  ({ lockWait }: { readonly lockWait: Option.Option<Duration.Duration> }) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    if (Option.isNone(lockWait)) return effect
    let said = false
    return effect.pipe(
      Effect.tapError((failure) => {
        if (said || !isBusy(failure)) return Effect.void
        said = true
        return Console.error(`Waiting: ${messageOf(failure)}`)
      }),
      Effect.retry({
        while: isBusy,
        schedule: Schedule.spaced("250 millis").pipe(Schedule.upTo({ duration: lockWait.value })),
      }),
    )
  }
