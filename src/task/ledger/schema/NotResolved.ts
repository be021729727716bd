/** The reasons why a decision about a task fails. The ledger was not changed. */
import { Schema } from "effect"
import { excerpt } from "../../../io/Values.ts"
import { TaskState } from "./Model.ts"

/** The ledger has no such task. */
export class NoSuchTask extends Schema.TaggedError<NoSuchTask>()("NoSuchTask", {
  /** Number of the task as in `prefstream resolve`, from 1. */
  number: Schema.Int,
}) {
  override get message() {
    return `the ledger has no task ${this.number}`
  }
}

/** The task's state does not allow the decision. */
export class NotResolvable extends Schema.TaggedError<NotResolvable>()("NotResolvable", {
  /** Number of the task as in `prefstream resolve`, from 1. */
  number: Schema.Int,
  /** The current state of the task. */
  state: TaskState,
  /** The decision that was refused. */
  verb: Schema.Literals(["adopt", "resend", "give up"]),
}) {
  override get message() {
    const why = this.state === "completed" ? "its result has arrived" : `it is ${this.state.replace("_", " ")}`
    const advice =
      this.verb === "resend" && this.state === "submitted"
        ? ". To replace it with a new, billable task, use `Job.giveUp`, then `Job.sendAgain`."
        : ""
    return `cannot ${this.verb} task ${this.number}: ${why}${advice}`
  }
}

/** The id has an invalid form. */
export class TaskIdInvalid extends Schema.TaggedError<TaskIdInvalid>()("TaskIdInvalid", {
  /** The given id. */
  taskId: Schema.String,
  /** The expected form. */
  problem: Schema.String,
}) {
  override get message() {
    return `${JSON.stringify(excerpt(this.taskId, 60))}: ${this.problem}`
  }
}

/** Another task of the ledger has, or had, the same id at the service. */
export class TaskIdTaken extends Schema.TaggedError<TaskIdTaken>()("TaskIdTaken", {
  /** The id at the service. */
  taskId: Schema.String,
  /** The number, from 1, of the task that already has the id. */
  number: Schema.Int,
}) {
  override get message() {
    return `the task id ${this.taskId} already belongs to task ${this.number}`
  }
}
