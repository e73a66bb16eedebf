/**
 * Faults of what stands around the machine, each of which some test must notice.
 *
 * @type {readonly import("./mutants.mjs").Mutant[]}
 */
export const LAYER = [
  {
    file: "turn.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what stands in the source.
    search: "const id = `steering-${turn.id}/${turn.runsBegun}`;",
    replace: "const id = String(turn.runsBegun);",
    breaks: "§6: our request ids have no prefix of their own",
  },
  {
    file: "hub.ts",
    search: "    for (const timer of Object.values(session.timers)) clock.clear(timer);\n",
    replace: "",
    breaks: "G8: timers outlive the phase that armed them",
  },
  {
    file: "hub.ts",
    search: "    sessions.delete(session.id);\n",
    replace: "",
    breaks: "G8: a closed session is kept for ever",
  },
  {
    file: "hub.ts",
    search: 'link.wishes["receipts"] === true && (sender ?? link) === link',
    replace: 'link.wishes["receipts"] === true',
    breaks: "§6: the receipt of a steer goes to every connection",
  },
  {
    file: "steers.ts",
    search: 'const kept = word === "delivered" || word === "accepted";',
    replace: 'const kept = word !== "tooLate" && word !== "unsupported" && word !== "undelivered";',
    breaks: "G1: what a driver says that is no verdict counts as delivered",
  },
  {
    file: "hub.ts",
    search: 'conclude("unsupported"),',
    replace: "{},",
    breaks: "G8: a driver that throws loses the turn",
  },
  {
    file: "wire.ts",
    search: 'if (session.phase !== "running" || session.turn?.bound.length) dispatch',
    replace: 'if (session.phase !== "running") dispatch',
    breaks: "G2: signs of the agent are not noticed",
  },
  {
    file: "wire.ts",
    search: "      prompts.delete(id);\n",
    replace: "",
    breaks: "G4: the id of a prompt stays taken when it was answered",
  },
  {
    file: "hub.ts",
    search: "      for (const link of links) link.releaseHolds(session);\n",
    replace: "",
    breaks: "G6: an open permission stays open when its run ends",
  },
  {
    file: "hub.ts",
    search: "abortInjection: ({ injection }) => injection?.abort(),",
    replace: "abortInjection: () => {},",
    breaks: "G4: the signal of an inject never aborts",
  },
  {
    file: "wire.ts",
    search: "    if (isFenced(session)) return seeAgentAct(session);\n",
    replace: "",
    breaks: "G6: a cancelled run goes on talking",
  },
  {
    file: "wire.ts",
    search: "      if (refusal && isFenced(session)) return toAgent({ id, ...refusal });\n",
    replace: "",
    breaks: "G6: a cancelled run asks for permissions",
  },
  {
    file: "wire.ts",
    search: "({ link, id: message.id as RequestId });",
    replace: "({ link, id: String(message.id) });",
    breaks: '§6: the id 1 is taken for the id "1"',
  },
  {
    file: "wire.ts",
    search: "      if (asked.has(id) || prompts.has(id)) return refuse(message, idInUse);\n",
    replace: "",
    breaks: "G4: a request that reuses an open id takes the answer of the other",
  },
  {
    file: "wire.ts",
    search: "session?.links.has(link) ? undefined : sessionNotFound(sessionId);",
    replace: "session ? undefined : sessionNotFound(sessionId);",
    breaks: "§6: a connection steers a session that is not its own",
  },
  {
    file: "wire.ts",
    search: 'wanted === "startNewTurn" && link.wishes["receipts"] !== true ? "promptRequired" : wanted',
    replace: "wanted",
    breaks: "G5: a steer starts a turn whose end its client cannot learn of",
  },
  {
    file: "wire.ts",
    search: "    asked.delete(message.id);\n",
    replace: "",
    breaks: "G4: the second answer of an agent to one request passes",
  },
  {
    file: "wire.ts",
    search: '    if (closing) dispatch(closing, "closeArrived");\n',
    replace: "",
    breaks: "G6: a session that is being closed takes steers",
  },
  {
    file: "wire.ts",
    search: "    if (known) replays.push(known);\n",
    replace: "",
    breaks: "§5: what is replayed counts as a sign of the agent",
  },
  {
    file: "wire.ts",
    search: "transparent = META_KEY in meta && !driver;",
    replace: "transparent = false;",
    breaks: "§6: a layer over a layer steers twice",
  },
  {
    file: "wire.ts",
    search: "    if (!released.delete(message.id)) outlets.toAgent(message);\n",
    replace: "    outlets.toAgent(message);\n",
    breaks: "G4: an agent's request has two answers, ours and the client's",
  },
  {
    file: "wire.ts",
    search: 'if (running?.phase === "cancelling") return;',
    replace: "",
    breaks: "§6: the agent of a lost connection goes before its cancelled run has ended",
  },
  {
    file: "wire.ts",
    search: "if (method === METHOD.cancelRequest) endHold(cancelledId(message.params));",
    replace: "",
    breaks: "G3: steers stay held when the agent took its request back",
  },
  {
    file: "wire.ts",
    search: "        if (!error && sessions.get(session.id) === session) session.links.add(link);\n",
    replace: "",
    breaks: "§6: a connection that prompted a session may not steer it",
  },
  {
    file: "wire.ts",
    search: 'for (const session of sessions.values()) dispatch(session, "linkLost", link);',
    replace: "",
    breaks: "§6: the turns of a lost connection are not cancelled",
  },
  {
    file: "wire.ts",
    search: '        dispatch(session, "agentLost", link);\n',
    replace: "",
    breaks: "G8: prompts that wait for an agent that is gone are never answered",
  },
  {
    file: "wire.ts",
    search: "        if (hold.session !== session) continue;\n",
    replace: "",
    breaks: "G7: the end of one session's run answers the permissions of another",
  },
  {
    file: "wire.ts",
    search: "        released.add(id);\n",
    replace: "",
    breaks: "G4: a late answer to a permission reaches an agent that has one",
  },
  {
    file: "wire.ts",
    search: "    holds.delete(id);\n    if (hold) dispatch",
    replace: "    if (hold) dispatch",
    breaks: "G3: one permission lets go of the hold of two",
  },
  {
    file: "parse.ts",
    search: '?? shallow(params, "");',
    replace: ";",
    breaks: "§2: params of any depth are passed on",
  },
  {
    file: "parse.ts",
    search: "value == null ? undefined",
    replace: "value === undefined ? undefined",
    breaks: "§2: metadata that is null is refused",
  },
  {
    file: "parse.ts",
    search: "Array.isArray(value) && value.length > 0",
    replace: "Array.isArray(value)",
    breaks: "§2: an empty steer is taken",
  },
  {
    file: "parse.ts",
    search: "/^\\/(steer|queue)(?:\\s(.*))?$/s",
    replace: "/^\\/(steer|queue)(.*)$/s",
    breaks: "§7: a command of the agent that begins like one of ours is taken for ours",
  },
];
