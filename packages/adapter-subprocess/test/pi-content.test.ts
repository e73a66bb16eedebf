import { expect, test } from "vitest";
import { toPiMessage } from "../src/dialects/pi-content.js";

test("a single text is passed on verbatim", () => {
  expect(toPiMessage([{ type: "text", text: "/steer me \n" }])).toEqual({ message: "/steer me \n" });
});

test("a message of images alone gets a text, without which Pi would never take it out of its queue", () => {
  const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;
  expect(toPiMessage([image, image])).toEqual({ message: "See the attached image.", images: [image, image] });
});

test("an embedded image is an image, other embedded bytes are named", () => {
  const embedded = (mimeType: string): Parameters<typeof toPiMessage>[0][number] => ({
    type: "resource",
    resource: { uri: "file:///x", blob: "AA==", mimeType },
  });
  expect(toPiMessage([embedded("image/png")]).images).toEqual([{ type: "image", data: "AA==", mimeType: "image/png" }]);
  expect(toPiMessage([embedded("application/zip")])).toEqual({ message: "(file:///x)" });
});
