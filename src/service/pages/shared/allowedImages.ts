/** The handles and hosts of images that the page may show. The service wrote the hosts into the page (`web/Pages`). */
import { type Allowed, handles } from "./images.ts"

export const allowedImages: Allowed = {
  hosts: (document.querySelector<HTMLMetaElement>("meta[name=image-hosts]")?.content ?? "")
    .split(" ")
    .filter((host) => host !== ""),
  handles,
}
