#!/usr/bin/env node
/** A relay as one would write it with the SDK: each message is parsed, validated, handed on, and written again. */
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { agent, client, ndJsonStream } from "@agentclientprotocol/sdk/unstable";

const [command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
/** @type {import("@agentclientprotocol/sdk/unstable").AgentContext | undefined} */
let host;

const { agent: behind } = client({ name: "relay" })
  .onNotification("session/update", ({ params }) => host?.notify("session/update", params))
  .connect(ndJsonStream(Writable.toWeb(child.stdin), /** @type {any} */ (Readable.toWeb(child.stdout))));

agent({ name: "relay" })
  .onRequest("initialize", ({ params }) => behind.request("initialize", params))
  .onRequest("session/new", ({ params }) => behind.request("session/new", params))
  .onRequest("session/prompt", ({ params, client: asking }) => {
    host = asking;
    return behind.request("session/prompt", params);
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), /** @type {any} */ (Readable.toWeb(process.stdin))));

process.stdin.on("end", () => child.stdin.end());
child.on("exit", () => process.exit());
