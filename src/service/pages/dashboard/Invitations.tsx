/** Invites several people. In the links' CSV file, an apostrophe keeps spreadsheets from running names as formulas. */
import { useEffect, useState } from "preact/hooks"
import type { NewInvitation } from "../../pageApi/ExpertsApi.ts"
import { linkHours, maxLength, splitNames } from "../../pageApi/PageConstants.ts"
import { Button } from "../shared/Button.tsx"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { CopyButton } from "./Copy.tsx"
import { plural } from "./format.ts"
import { TextArea } from "./forms.tsx"
import { useHeading } from "./hooks.ts"
import { Table } from "./Table.tsx"

interface InviteSeveralProps {
  readonly onMade: (invitations: ReadonlyArray<NewInvitation>) => void
}

export const InviteSeveral = ({ onMade }: InviteSeveralProps) => {
  const [people, setPeople] = useState(0)
  return (
    <ConfirmButton
      look=""
      text="Invite several"
      title="Invite several experts"
      confirm="Invite all"
      ask={(values) => ask("POST /experts/invitations", { payload: { names: values.raw("names") } })}
      onDone={({ invitations }) => onMade(invitations)}
    >
      <p>Each person gets a link. If a name is invalid or already in use, nobody is invited.</p>
      <TextArea
        name="names"
        label="Names, one per line or separated by commas"
        rows={8}
        required
        maxLength={maxLength.names}
        onInput={({ currentTarget }) => setPeople(splitNames(currentTarget.value).length)}
      />
      <p class="muted" role="status">
        {people > 0 && plural(people, "name")}
      </p>
    </ConfirmButton>
  )
}

const linkOf = ({ invitation }: NewInvitation) => new URL(invitation, location.origin).href

const fieldOf = (text: string): string => {
  const safe = /^'*[=+\-@]/.test(text) ? `'${text}` : text
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const csvOf = (invitations: ReadonlyArray<NewInvitation>): string =>
  [["name", "link"], ...invitations.map((invitation) => [invitation.expert.name, linkOf(invitation)])]
    .map((fields) => `${fields.map(fieldOf).join(",")}\r\n`)
    .join("")

interface InvitationsProps {
  readonly invitations: ReadonlyArray<NewInvitation>
  readonly onDone: () => void
}

export const Invitations = ({ invitations, onDone }: InvitationsProps) => {
  const heading = useHeading()
  const [file, setFile] = useState("")
  useEffect(() => {
    const url = URL.createObjectURL(new Blob([csvOf(invitations)], { type: "text/csv" }))
    setFile(url)
    return () => URL.revokeObjectURL(url)
  }, [invitations])
  return (
    <section class="stack secret" aria-labelledby="invitations">
      <h2 id="invitations" tabIndex={-1} ref={heading}>
        {plural(invitations.length, "invitation")}
      </h2>
      <p>
        Send each person the link now: the links can’t be shown again. Each link works once, within{" "}
        {linkHours.invitation / 24} days. Whoever opens a link judges as the expert with that name.
      </p>
      <div class="row">
        <CopyButton
          text={invitations.map((invitation) => `${invitation.expert.name}\t${linkOf(invitation)}`).join("\n")}
          words="Copy all"
          what="names and links"
        />
        <a class="button compact" href={file} download="invitations.csv">
          Download CSV
        </a>
      </div>
      <Table
        label="Invitations"
        rows={invitations}
        keyOf={({ expert }) => expert.expert_id}
        columns={[
          { label: "Name", class: "anywhere", cell: ({ expert }) => <bdi>{expert.name}</bdi> },
          { label: "Link", cell: (invitation) => <code class="small">{linkOf(invitation)}</code> },
        ]}
      />
      <Button text="Done" onClick={onDone} />
    </section>
  )
}
