/** The operator's role. Pages hide actions that the role may not take. The service also refuses these actions. */
import { type ComponentChildren, createContext } from "preact"
import { useContext } from "preact/hooks"
import { isAtLeast, roles } from "../../pageApi/PageConstants.ts"
import type { Account } from "../../pageApi/OperatorsApi.ts"
import { Choices, type Values } from "./forms.tsx"

export type Role = Account["role"]

export const roleWords: Readonly<Record<Role, string>> = { viewer: "Viewer", manager: "Manager", admin: "Admin" }

export const roleHints: Readonly<Record<Role, string>> = {
  viewer: "reads tasks and experts",
  manager: "also manages tasks, groups, and experts",
  admin: "also manages operators, tokens, and the webhook, and sees the audit log",
}

export const Me = createContext<Account>({ name: "", role: "viewer" })

export const useMay = (min: Role): boolean => isAtLeast(useContext(Me).role, min)

export const For = ({ role, children }: { readonly role: Role; readonly children: ComponentChildren }) => (
  <>{useMay(role) && children}</>
)

export const RoleChoice = ({ value }: { readonly value: Role }) => (
  <Choices
    legend="Role"
    name="role"
    value={value}
    options={roles.map((role) => [role, roleWords[role], roleHints[role]])}
  />
)

export const roleOf = (values: Values): Role => roles.find((role) => role === values.text("role")) ?? "viewer"
