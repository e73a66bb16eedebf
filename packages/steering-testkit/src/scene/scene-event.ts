/** Who speaks in the scene. The model is the scripted server that the agent takes for its model. */
export type Party = "client" | "agent" | "model";

/** What a scene has to prove, in this order; `delivered` only with receipts, `steerObeyed` only with tools. */
export type CheckId =
  | "advertised"
  | "injected"
  | "steerAnsweredOnce"
  | "seenOnce"
  | "inOrder"
  | "sameTurn"
  | "delivered"
  | "ownerAnswered"
  | "ownerAnsweredOnce"
  | "steerObeyed"
  | "idlePromptRequired"
  | "idleConsumesNothing"
  | "ownTurnAnswered"
  | "ownTurnSeenOnce";

/** One thing that had to be true. `unverified`: nothing showed that it is, nothing showed that it is not. */
export interface Check {
  readonly id: CheckId;
  readonly title: string;
  readonly verdict: "true" | "false" | "unverified";
  /** What was seen. */
  readonly detail: string;
}

/**
 * What happens in a scene, as it happens. `at` is in milliseconds since the scene began.
 *
 * `cast`: who plays, the agent's command line and the model's address. `message`: one message between two parties; `about` marks the ones that carry or answer the steer. `chunk` marks a piece
 * of a longer text that goes on in the next event of the same name.
 */
export type SceneEvent =
  | { readonly type: "cast"; readonly at: number; readonly agent: string; readonly model: string }
  | { readonly type: "step"; readonly at: number; readonly title: string }
  | {
      readonly type: "message";
      readonly at: number;
      readonly from: Party;
      readonly to: Party;
      readonly name: string;
      readonly text: string;
      readonly about?: "steer";
      readonly chunk?: boolean;
    }
  | ({ readonly type: "check"; readonly at: number } & Check)
  | { readonly type: "summary"; readonly at: number; readonly passed: boolean; readonly facts: SceneFacts };

/** Receives the events of a scene, in order. */
export type Report = (event: SceneEvent) => void;

/** How one request of the client was answered. */
export interface AnswerFacts {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number | undefined; readonly message: string };
  /** How many answers were on the wire until the agent had ended. */
  readonly answers: number;
  /** How many requests the model had seen when the client sent this request, and when it was answered. */
  readonly modelRequestsBefore: number;
  readonly modelRequestsAfter: number;
}

/** Where a text of the user showed up in the requests that the model received. */
export interface SightingFacts {
  /** Number of the first request with it, from 1; missing where none had it. */
  readonly request?: number;
  /** In how many messages of that agent's last request it stands. */
  readonly userMessages: number;
  /** Whether it came after everything that the request before had carried. */
  readonly newest: boolean;
}

/** Everything that was seen in a scene: pure data, from which the checks are made. */
export interface SceneFacts {
  readonly advertisement?: Readonly<Record<string, unknown>>;
  /** The prompt that the user began with, the steer into its turn, and where the model saw it. */
  readonly owner: AnswerFacts;
  readonly steer: AnswerFacts;
  readonly steerSeen: SightingFacts;
  readonly steerReceipts: readonly Readonly<Record<string, unknown>>[];
  /** The steer after the turn, and the same text sent as a prompt. */
  readonly idleSteer: AnswerFacts;
  readonly ownTurn: AnswerFacts;
  readonly ownTurnSeen: SightingFacts;
  /** Tool calls that the agent reported, and whether the files are as the steer wanted them. */
  readonly toolCalls: number;
  readonly steerObeyed: boolean;
  readonly modelRequests: number;
}

/** The end of a scene that could be played to its end. */
export interface SceneResult {
  /** Whether every check is true. */
  readonly passed: boolean;
  readonly checks: readonly Check[];
  readonly facts: SceneFacts;
}

/** Why a scene could not be played to its end, and what to do. */
export class SceneError extends Error {
  readonly code: "agentFailed" | "stuck" | "interrupted" | "setup";

  constructor(code: SceneError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SceneError";
    this.code = code;
  }
}
