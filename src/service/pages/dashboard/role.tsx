/**
 * Who is signed in, and what the role permits.
 *
 * Does not: protect anything. The service refuses what a role may not do; the page leaves it out.
 */
import { type ComponentChildren, createContext } from "preact"
import { useContext } from "preact/hooks"
import type { Account } from "../../pageApi/OperatorsApi.ts"

export type Role = Account["role"]

/** From the least to the most. */
export const roles: ReadonlyArray<Role> = ["viewer", "manager", "admin"]

export const roleWords: Readonly<Record<Role, string>> = { viewer: "Viewer", manager: "Manager", admin: "Admin" }

export const roleHints: Readonly<Record<Role, string>> = {
  viewer: "reads tasks and experts",
  manager: "also runs the work: tasks, groups, experts",
  admin: "also has operators, tokens, the webhook, and the audit log",
}

export const isAtLeast = (role: Role, min: Role): boolean => roles.indexOf(role) >= roles.indexOf(min)

export const Me = createContext<Account>({ name: "", role: "viewer" })

export const useMay = (min: Role): boolean => isAtLeast(useContext(Me).role, min)

/** Its children only for who has the role. */
export const For = ({ role, children }: { readonly role: Role; readonly children: ComponentChildren }) => (
  <>{useMay(role) && children}</>
)

/** A choice among the roles, with what each may do. */
export const RoleChoice = ({
  name,
  value,
  onChange,
}: {
  readonly name: string
  readonly value: Role
  readonly onChange: (role: Role) => void
}) => (
  <fieldset class="choices">
    <legend>Role</legend>
    {roles.map((role) => (
      <label key={role}>
        <input type="radio" name={name} checked={value === role} onChange={() => onChange(role)} />
        <span>
          {roleWords[role]} <span class="muted small">{roleHints[role]}</span>
        </span>
      </label>
    ))}
  </fieldset>
)
