/** Shows one group of tasks: progress, pace, prompts on which experts disagree, and the experts who voted. */
import type { GroupDetail } from "../../pageApi/GroupsApi.ts"
import { ask } from "./client.ts"
import { Days } from "./Days.tsx"
import { count, percent, plural } from "./format.ts"
import { Reload, useResource } from "./hooks.ts"
import { Badge, Loaded, Meter, NameLink, PageHeading, Section, Summary } from "./parts.tsx"
import { Pause } from "./Pause.tsx"
import { For } from "./role.tsx"
import { href, type Query } from "./routes.ts"
import { Table } from "./Table.tsx"
import { VoteLinks } from "./VoteLinks.tsx"
import { pausedLabel } from "./wording.ts"

export const GroupPage = ({ id: groupId }: { readonly id: string }) => {
  const resource = useResource(groupId, () => ask("GET /groups/:group_id", { params: { group_id: groupId } }), 10_000)
  const { data: group } = resource
  return (
    <>
      <PageHeading title={`Group ${groupId}`} under={["Tasks", href("tasks")]}>
        {group?.paused === true && <Badge label={pausedLabel} />}
        {group !== undefined && (
          <Reload.Provider value={() => void resource.reload()}>
            <Pause groupId={groupId} paused={group.paused} />
          </Reload.Provider>
        )}
      </PageHeading>
      <Loaded resource={resource}>
        {(group) => (
          <>
            <GroupSummary group={group} />
            {group.disputed > 0 && (
              <For role="manager">
                <div>
                  <a class="button primary" href={href("adjudicate", { group: groupId })}>
                    Decide {plural(group.disputed, "disagreement")}
                  </a>
                </div>
              </For>
            )}
            {group.votes > 0 && <VoteLinks filter={{ group: groupId }} />}
            <Section id="experts" title="Experts">
              <GroupExperts group={group} />
            </Section>
            <Section id="days" title="Votes by day">
              <Days days={group.days} />
            </Section>
          </>
        )}
      </Loaded>
    </>
  )
}

const GroupSummary = ({ group }: { readonly group: GroupDetail }) => {
  const items = (filter: Query, n: number) => (
    <a href={href("items", { group: group.group_id, ...filter })}>{count(n)}</a>
  )
  const { cancelled, completed, open } = group.tasks
  const tasks = (
    <>
      <a href={href("tasks", { text: group.group_id })}>{count(open + completed + cancelled)}</a>{" "}
      <span class="muted small">
        ({count(open)} open, {count(completed)} completed{cancelled > 0 && `, ${count(cancelled)} cancelled`})
      </span>
    </>
  )
  return (
    <Summary
      facts={[
        ["Tasks", tasks],
        ["Prompts done", <Meter label="Prompts done" done={group.prompts_done} of={group.prompts} />],
        ["Votes", <Meter label="Votes" done={group.votes} of={group.votes_required} />],
        ["Experts disagree", items({ state: "disputed" }, group.disputed)],
        ["Decided by a lead", items({ state: "decided" }, group.decided)],
        group.withdrawn > 0 && ["Withdrawn", items({ state: "withdrawn" }, group.withdrawn)],
        ["Flagged", items({ flagged: "true" }, group.flagged)],
      ]}
    />
  )
}

const GroupExperts = ({ group }: { readonly group: GroupDetail }) =>
  group.experts.length === 0 ? (
    <p class="muted">Nobody has voted yet.</p>
  ) : (
    <Table
      label="Experts who voted in the group"
      rows={group.experts}
      keyOf={({ expert_id }) => expert_id}
      columns={[
        {
          label: "Expert",
          class: "anywhere",
          cell: ({ expert_id, name }) => <NameLink to={href("expert", { id: expert_id })} name={name} />,
        },
        { label: "Votes", cell: ({ votes }) => count(votes) },
        {
          label: "Agrees with other experts",
          nothing: "nothing to compare",
          cell: ({ agreed, compared }) => percent(agreed, compared),
        },
        {
          label: "Gold items right",
          nothing: "none judged",
          cell: ({ gold_judged, gold_right }) => percent(gold_right, gold_judged),
        },
      ]}
    />
  )
