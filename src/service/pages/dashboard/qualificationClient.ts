/** The dashboard's requests about the qualification of people, typed by `QualificationApi`. */
import type { Qualification, QualificationSettings } from "../../pageApi/QualificationApi.ts"
import { get, post, put } from "./client.ts"

export const read = () => get<Qualification>("/qualification")
export const set = (settings: QualificationSettings) => put<Qualification>("/qualification", settings)
export const admit = (expertId: string) => post<void>(`/experts/${encodeURIComponent(expertId)}/admit`)
export const requalify = (expertId: string) => post<void>(`/experts/${encodeURIComponent(expertId)}/requalify`)
