import type { AgentConnection, AgentContext } from "@agentclientprotocol/sdk/unstable";
import type { MessageStream } from "../../src/protocol.js";
import { type AgentConnector, type Steerable, steeringWith } from "../../src/steering.js";
import { type Entry, History, type Message } from "./history.js";
import { Inlet, outlet } from "./pipes.js";
import type { Scenario } from "./scenario.js";
import { type Chooser, Line, Schedule, ScheduledClock } from "./schedule.js";
import { ScriptedAgent } from "./scripted-agent.js";
import { ScriptedClient } from "./scripted-client.js";
import { scriptedDriver } from "./scripted-driver.js";

/** Milliseconds; longer than two retries of a continuation, so that both a retry and a grace can come first. */
export const GRACE_MS = 700;
/** How many timers fire at the end for as long as a run hangs. */
const LAST_TICKS = 12;

/** What came of a scenario in one order of events. */
export interface Played {
  readonly scenario: Scenario;
  readonly entries: readonly Entry[];
  /** What was let happen, in order. */
  readonly labels: readonly string[];
}

interface AgentSide {
  readonly connection: AgentConnection;
  readonly toLayer: Line;
  readonly leave: () => void;
}

const letterOf = (link: number): string => String.fromCharCode(65 + link);

/** A layer between clients and an agent of the SDK, where nothing happens but in the order of a schedule. */
class World {
  private readonly history = new History();
  private readonly schedule: Schedule;
  private readonly clock: ScheduledClock;
  private readonly agent: ScriptedAgent;
  private readonly steerable: Steerable;
  private readonly clients: ScriptedClient[] = [];
  private readonly agentSides: AgentSide[] = [];
  private readonly sessions: string[] = [];
  private tokens = 0;
  private readonly scenario: Scenario;

  constructor(scenario: Scenario, chooser: Chooser) {
    this.scenario = scenario;
    this.schedule = new Schedule(chooser, this.history);
    this.clock = new ScheduledClock(this.schedule, this.history);
    this.agent = new ScriptedAgent(scenario, this.schedule, this.history);
    const { idleBehavior, whenBusy, emulate, inbox, maxSteers, driver } = scenario;
    const connector: AgentConnector = { connect: (stream) => this.connectAgent(stream) };
    this.steerable = steeringWith(
      connector,
      {
        idleBehavior,
        whenBusy,
        emulate,
        inbox,
        cancelGraceMs: GRACE_MS,
        maxPending: { steers: maxSteers, bytes: 1_000_000 },
        ...(driver && { driver: scriptedDriver(driver, this.schedule, this.history) }),
      },
      this.clock,
    );
    this.agent.steerable = this.steerable;
  }

  async play(): Promise<Played> {
    await this.setUp();
    this.schedule.close();
    for (const client of this.clients) void client.act();
    await this.schedule.run();
    await this.wearOut();
    await this.probe();
    return { scenario: this.scenario, entries: this.history.entries, labels: this.schedule.labels };
  }

  private async setUp(): Promise<void> {
    for (const [link] of this.scenario.actors.entries()) await this.connectClient(link);
    const [first, ...others] = this.clients as [ScriptedClient, ...ScriptedClient[]];
    while (this.sessions.length < this.scenario.sessions) this.sessions.push(await first.newSession());
    for (const client of others) await client.load(this.sessions[0] as string);
    while (this.clock.tick()) await Promise.resolve();
    this.history.next();
  }

  /** What waits for nothing but time or an end gets it. */
  private async wearOut(): Promise<void> {
    for (let ticks = 0; ; ticks += 1) {
      if (ticks < LAST_TICKS && this.clock.tick()) this.history.next();
      else {
        this.history.next();
        for (const client of this.clients) client.giveIn();
        if (!this.agent.release() && !this.clock.tick()) return;
      }
      await this.schedule.run();
    }
  }

  /** One more prompt by each client: nothing that happened may keep it from its answer (G8). */
  private async probe(): Promise<void> {
    for (const client of this.clients) {
      this.history.next();
      void client.prompt(this.sessions[0] as string, "probe");
      await this.schedule.run();
      await this.wearOut();
    }
  }

  private async connectClient(link: number): Promise<void> {
    const { history, schedule } = this;
    const letter = letterOf(link);
    const toLayer = new Line(schedule, `${letter} to layer`);
    const layerInlet = new Inlet();
    const clientInlet = new Inlet();
    const arrive = (message: Message): void => {
      if (layerInlet.isOver) return;
      history.record({ kind: "clientSent", link, message });
      layerInlet.push(message);
    };
    const clientEnd = {
      readable: clientInlet.readable,
      writable: outlet((message) => toLayer.send(() => arrive(message))),
    };
    const layerEnd = {
      readable: layerInlet.readable,
      writable: outlet((message) => {
        history.record({ kind: "clientGot", link, message });
        client.notice(message);
        clientInlet.push(message);
      }),
    };
    const client = new ScriptedClient(letter, this.scenario.actors[link] as never, clientEnd, schedule, {
      sessions: this.sessions,
      nextToken: () => `m${this.tokens++}`,
      leave: () =>
        toLayer.send(() => {
          history.record({ kind: "clientLeft", link });
          layerInlet.end();
        }),
      agentLeaves: () => this.agentSides[link]?.leave(),
      agentActs: (sessionId) => this.agentActs(link, sessionId),
    });
    this.clients.push(client);
    this.steerable.connect(layerEnd);
    await client.initialize();
  }

  private agentActs(link: number, sessionId: string): void {
    const context: AgentContext | undefined = this.agentSides[link]?.connection.client;
    if (context) void this.agent.show(context, sessionId, "agent_message_chunk", { type: "text", text: "by itself" });
  }

  private connectAgent(stream: MessageStream): { closed: Promise<void> } {
    const { history, schedule } = this;
    const link = this.agentSides.length;
    const toLayer = new Line(schedule, `agent of ${letterOf(link)} to layer`);
    const layerReader = stream.readable.getReader();
    const layerWriter = stream.writable.getWriter();
    const agentInlet = new Inlet();
    const pump = async (): Promise<void> => {
      for (let next = await layerReader.read(); !next.done; next = await layerReader.read()) {
        history.record({ kind: "agentGot", link, message: next.value });
        agentInlet.push(next.value);
      }
      agentInlet.end();
    };
    void pump();
    const arrive = (message: Message): void => {
      history.record({ kind: "agentSent", link, message });
      void layerWriter.write(message);
    };
    const agentEnd = {
      readable: agentInlet.readable,
      writable: outlet((message) => toLayer.send(() => arrive(message))),
    };
    const connection = this.agent.app.connect(agentEnd as never) as AgentConnection;
    const closed = new Promise<void>((resolve) => {
      void connection.closed.then(() =>
        toLayer.send(() => {
          history.record({ kind: "agentLeft", link });
          resolve();
        }),
      );
    });
    this.agentSides.push({ connection, toLayer, leave: () => connection.close() });
    return { closed };
  }
}

/** Plays a scenario in the order that the chooser makes. */
export const play = (scenario: Scenario, chooser: Chooser): Promise<Played> => new World(scenario, chooser).play();
