import { assert, it } from "@effect/vitest"
import { itemStates } from "../../../../src/service/pageApi/PageConstants.ts"
import { href, parse, placeOf } from "../../../../src/service/pages/dashboard/routes.ts"

const list = (page: string, query = {}) => ({ page, id: "", query })

const filter = {
  text: "a b",
  group: "g",
  state: "disputed",
  expert: "expert_1",
  max_agreement: "50",
  flagged: "true",
  before: "9",
}
const places = [
  ["tasks", "", {}, "#/tasks"],
  ["tasks", "", { status: "in_progress", before: "120" }, "#/tasks?status=in_progress&before=120"],
  ["task", "task_1", {}, "#/tasks/task_1"],
  ["task", "task_1", { prompt: "21" }, "#/tasks/task_1?prompt=21"],
  ["experts", "", {}, "#/experts"],
  ["expert", "expert_1", {}, "#/experts/expert_1"],
  ["group", "week 48", {}, "#/groups/week%2048"],
  [
    "items",
    "",
    filter,
    "#/items?text=a+b&group=g&state=disputed&expert=expert_1&max_agreement=50&flagged=true&before=9",
  ],
  ...itemStates.map((state) => ["items", "", { state }, `#/items?state=${state}`] as const),
  ["queue", "", { after: "51" }, "#/queue?after=51"],
  ["audit", "", { actor: "Ann B", action: "task.cancel" }, "#/audit?actor=Ann+B&action=task.cancel"],
  ["developer", "", {}, "#/developer"],
  ["delivery", "msg_1", {}, "#/developer/deliveries/msg_1"],
] as const

it.each(places)("%s %s %j: %s", (page, id, query, hash) => {
  const link = href as (page: string, place: object) => string
  assert.strictEqual(link(page, { ...(id !== "" && { id }), ...query }), hash)
  assert.deepEqual<unknown>(parse(hash), { page, id, query })
})

it("the empty address is the overview", () => {
  for (const hash of ["", "#", "#/"]) assert.deepEqual(parse(hash), list("overview"))
})

it("an id may hold anything, and comes back as it was", () => {
  for (const id of ["a/b?c=d#e", "%", "%41", "täsk 1", "😀", ".."]) {
    assert.deepEqual(parse(href("task", { id, prompt: 2 })), { page: "task", id, query: { prompt: "2" } })
    assert.deepEqual(parse(href("delivery", { id })), { page: "delivery", id, query: {} })
  }
})

it("takes the code out of a sign-in link", () => {
  assert.deepEqual(parse("#set-up=Ab_-9%2F"), { page: "set-up", id: "Ab_-9/", query: {} })
  assert.deepEqual(parse("#set-up="), list("unknown"))
})

it("what it does not know is unknown, and never a failure", () => {
  const unknown = ["#/nowhere", "#/tasks/a/b", "#/experts/1/2", "#/tasks/%E0%A4%A", "#set-up=%", "#/developer/x/y"]
  for (const hash of unknown) assert.deepEqual(parse(hash), list("unknown"), hash)
})

it("a position that is no number is left out", () => {
  assert.deepEqual(parse("#/tasks?status=pending&before=-1"), list("tasks", { status: "pending" }))
  assert.deepEqual(parse("#/tasks?before=1e9"), list("tasks"))
  assert.deepEqual(parse("#/tasks/t?prompt=0"), { page: "task", id: "t", query: {} })
})

it("pages of one list are one place; two tasks are two", () => {
  const place = (hash: string) => placeOf(parse(hash))
  assert.strictEqual(place("#/tasks?before=1"), place("#/tasks?status=pending"))
  assert.strictEqual(place("#/tasks/a?prompt=1"), place("#/tasks/a"))
  assert.notStrictEqual(place("#/tasks/a"), place("#/tasks/b"))
  assert.notStrictEqual(place("#/tasks"), place("#/tasks/tasks"))
  assert.notStrictEqual(place("#/nowhere"), place("#/developer"))
})
