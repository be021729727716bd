/** The images that the page may show (see `images`). The service writes the hosts into the page (`web/Pages`). */
import { type Allowed, handles } from "./images.ts"

export const allowedImages: Allowed = {
  hosts: (document.querySelector<HTMLMetaElement>("meta[name=image-hosts]")?.content ?? "")
    .split(" ")
    .filter((host) => host !== ""),
  handles,
}
