/** Paths of the members that prefstream reads in another service's annotations. */
import { Option, Record, Result } from "effect"
import type { Command } from "effect/cli"
import * as AnnotationPaths from "../../api/AnnotationPaths.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { inGroup } from "./Definition.ts"
import { assignment, parsed, repeated } from "./Values.ts"

const annotationPath = repeated(
  parsed(
    "annotation-path",
    (text) => {
      const [name, path] = assignment(text)
      return AnnotationPaths.isMember(name) && Result.isSuccess(FieldPath.parse(path))
        ? Option.some([name, path] as const)
        : Option.none()
    },
    `MEMBER=PATH, where MEMBER is one of ${AnnotationPaths.members.join(", ")}`,
  ),
  "MEMBER=PATH",
  "Path of MEMBER in the service's annotations, such as strength=preference.strength; repeatable",
)

export const annotationFlags = inGroup("DATASET", { annotationPath })

export const annotationPathsOf = ({ annotationPath }: Command.Command.Config.Infer<typeof annotationFlags>) =>
  annotationPath.length > 0 ? Record.fromEntries(annotationPath) : undefined
