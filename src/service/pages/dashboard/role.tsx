/**
 * Who is signed in, and what the role permits.
 *
 * Does not: protect anything. The service refuses what a role may not do; the page leaves it out.
 */
import { type ComponentChildren, createContext } from "preact"
import { useContext } from "preact/hooks"
import { isAtLeast, roles } from "../../pageApi/PageConstants.ts"
import type { Account } from "../../pageApi/OperatorsApi.ts"
import { Choices, type Values } from "./forms.tsx"

export type Role = Account["role"]

export const roleWords: Readonly<Record<Role, string>> = { viewer: "Viewer", manager: "Manager", admin: "Admin" }

export const roleHints: Readonly<Record<Role, string>> = {
  viewer: "reads tasks and experts",
  manager: "also runs the work: tasks, groups, experts",
  admin: "also has operators, tokens, the webhook, and the audit log",
}

export const Me = createContext<Account>({ name: "", role: "viewer" })

export const useMay = (min: Role): boolean => isAtLeast(useContext(Me).role, min)

/** Its children only for who has the role. */
export const For = ({ role, children }: { readonly role: Role; readonly children: ComponentChildren }) => (
  <>{useMay(role) && children}</>
)

/** A choice among the roles, with what each may do. */
export const RoleChoice = ({ value }: { readonly value: Role }) => (
  <Choices
    legend="Role"
    name="role"
    value={value}
    options={roles.map((role) => [role, roleWords[role], roleHints[role]])}
  />
)

/** What was chosen. */
export const roleOf = (values: Values): Role => roles.find((role) => role === values.text("role")) ?? "viewer"
