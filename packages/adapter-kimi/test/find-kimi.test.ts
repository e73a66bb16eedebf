import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { findKimi } from "../src/find-kimi.js";

let folder = "";

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "acp-steering-find-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

function executable(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** A Node.js of some version, for which only `--version` is asked. */
const nodeOf = (name: string, version: string): string => executable(name, `#!/bin/sh\necho ${version}\n`);
const PROGRAM = "#!/bin/sh\n";
const SCRIPT = "#!/usr/bin/env node\n";

describe("finding Kimi Code", () => {
  test("a program of its own starts as it is: on PATH, or in its home", async () => {
    const kimi = executable("bin/kimi", PROGRAM);
    expect(await findKimi({ env: { PATH: join(folder, "bin") } })).toEqual({ executable: kimi, args: [], kimi });
    expect(await findKimi({ env: { PATH: "", KIMI_CODE_HOME: folder } })).toMatchObject({ executable: kimi });
  });

  test("a script gets the Node.js that was named, or the one of KIMI_NODE", async () => {
    const kimi = executable("bin/kimi", SCRIPT);
    const node = nodeOf("node24", "v24.1.0");
    const expected = { executable: node, args: [kimi], kimi };
    expect(await findKimi({ kimi, node, env: {} })).toEqual(expected);
    expect(await findKimi({ kimi, env: { KIMI_NODE: node } })).toEqual(expected);
  });

  test("a script that nobody has named a Node.js for gets one that is new enough", async () => {
    const kimi = executable("kimi", SCRIPT);
    nodeOf("old/node", "v18.0.0");
    const node = nodeOf("new/node", "v22.19.0");
    const env = { PATH: [join(folder, "old"), join(folder, "new")].join(":") };
    const ours = Number(process.versions.node.split(".")[0]) >= 23;
    expect(await findKimi({ kimi, env })).toMatchObject({ executable: ours ? process.execPath : node });
  });

  test.each(["v20.20.2", "v22.18.9", "no version"])(
    "a Node.js that says %s is refused, with what to do",
    async (version) => {
      const kimi = executable("kimi.mjs", "");
      const node = nodeOf("node", version);
      await expect(findKimi({ kimi, node, env: {} })).rejects.toMatchObject({
        message: expect.stringMatching(/runs on Node.js 22.19 or newer.*--node or KIMI_NODE/),
        data: { reason: "nodeTooOld" },
      });
    },
  );

  test("where there is none, the error says what was looked at and what to install", async () => {
    await expect(findKimi({ kimi: "no-such-kimi", env: { PATH: folder } })).rejects.toMatchObject({
      message: expect.stringMatching(/Cannot find Kimi Code.*npm install -g.*no-such-kimi/),
      data: { reason: "agentNotFound" },
    });
  });
});
