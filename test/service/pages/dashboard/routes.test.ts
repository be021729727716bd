import { assert, describe, it } from "@effect/vitest"
import { itemStates } from "../../../../src/service/pageApi/DeskApi.ts"
import { format, parse, placeOf, type Route } from "../../../../src/service/pages/dashboard/routes.ts"

const everything = {
  text: undefined,
  group: undefined,
  expert: undefined,
  agreement: undefined,
  flagged: undefined,
  before: undefined,
}

type Formatted = Parameters<typeof format>[0]

describe("routes", () => {
  const places: ReadonlyArray<readonly [hash: string, route: Formatted]> = [
    ["#/tasks", { page: "tasks", status: undefined, before: undefined }],
    ["#/tasks?status=in_progress&before=120", { page: "tasks", status: "in_progress", before: 120 }],
    ["#/tasks/task_1", { page: "task", taskId: "task_1", prompt: undefined }],
    ["#/tasks/task_1?prompt=21", { page: "task", taskId: "task_1", prompt: 21 }],
    ["#/tasks?text=week", { page: "tasks", status: undefined, before: undefined, text: "week" }],
    ["#/experts", { page: "experts" }],
    ["#/experts/expert_1", { page: "expert", expertId: "expert_1" }],
    ["#/groups/week%2048", { page: "group", groupId: "week 48" }],
    [
      "#/items?text=a+b&group=g&state=disputed&expert=expert_1&agreement=50&flagged=yes&before=9",
      {
        page: "items",
        filter: {
          text: "a b",
          group: "g",
          state: "disputed",
          expert: "expert_1",
          agreement: 50,
          flagged: true,
          before: 9,
        },
      },
    ],
    ...itemStates.map(
      (state) => [`#/items?state=${state}`, { page: "items", filter: { ...everything, state } }] as const,
    ),
    ["#/operators", { page: "operators" }],
    ["#/account", { page: "account" }],
    ["#/queue", { page: "queue", after: undefined }],
    ["#/queue?after=51", { page: "queue", after: 51 }],
    ["#/audit", { page: "audit", actor: undefined, action: undefined, before: undefined }],
    [
      "#/audit?actor=Ann+B&action=task.cancel&before=3",
      { page: "audit", actor: "Ann B", action: "task.cancel", before: 3 },
    ],
    ["#/developer", { page: "developer", before: undefined }],
    ["#/developer?before=7", { page: "developer", before: 7 }],
    ["#/developer/deliveries/msg_1", { page: "delivery", messageId: "msg_1" }],
  ]

  it.each(places)("%s", (hash, route) => {
    assert.strictEqual(format(route), hash)
    assert.deepStrictEqual(parse(hash), route)
  })

  it("the empty address is the list of tasks", () => {
    for (const hash of ["", "#", "#/"]) {
      assert.deepStrictEqual(parse(hash), { page: "tasks", status: undefined, before: undefined })
    }
  })

  it("an id may hold anything, and comes back as it was", () => {
    for (const id of ["a/b?c=d#e", "%", "%41", "täsk 1", "😀", ".."]) {
      assert.deepStrictEqual(parse(format({ page: "task", taskId: id, prompt: 2 })), {
        page: "task",
        taskId: id,
        prompt: 2,
      })
      assert.deepStrictEqual(parse(format({ page: "delivery", messageId: id })), { page: "delivery", messageId: id })
    }
  })

  it("takes the code out of a sign-in link", () => {
    assert.deepStrictEqual(parse("#set-up=Ab_-9%2F"), { page: "set-up", code: "Ab_-9/" })
    assert.deepStrictEqual(parse("#set-up="), { page: "unknown" })
  })

  it("what it does not know is unknown, and never a failure", () => {
    for (const hash of [
      "#/nowhere",
      "#/tasks/a/b",
      "#/experts/1/2",
      "#/tasks/%E0%A4%A",
      "#set-up=%",
      "#/developer/x/y",
    ]) {
      assert.deepStrictEqual(parse(hash), { page: "unknown" }, hash)
    }
  })

  it("what makes no sense in a query is left out", () => {
    assert.deepStrictEqual(parse("#/tasks?status=lost&before=-1"), {
      page: "tasks",
      status: undefined,
      before: undefined,
    })
    assert.deepStrictEqual(parse("#/tasks?before=1e9"), { page: "tasks", status: undefined, before: undefined })
    assert.deepStrictEqual(parse("#/tasks/t?prompt=0"), { page: "task", taskId: "t", prompt: undefined })
  })

  it("pages of one list are one place; two tasks are two", () => {
    const place = (hash: string) => placeOf(parse(hash))
    assert.strictEqual(place("#/tasks?before=1"), place("#/tasks?status=pending"))
    assert.strictEqual(place("#/tasks/a?prompt=1"), place("#/tasks/a"))
    assert.notStrictEqual(place("#/tasks/a"), place("#/tasks/b"))
    assert.notStrictEqual(place("#/tasks"), place("#/tasks/tasks"))
    const unknown: Route = { page: "unknown" }
    assert.notStrictEqual(placeOf(unknown), place("#/developer"))
  })
})
