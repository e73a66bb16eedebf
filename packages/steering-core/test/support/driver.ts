import type { ContentType, InjectCall, SteeringDriver, Verdict } from "../../src/index.js";

interface Open {
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (reason: unknown) => void;
}

/** A driver whose verdicts the test gives by hand. */
export class HandDriver implements SteeringDriver {
  readonly spec = "steering-driver-1";
  readonly supports: SteeringDriver["supports"];
  readonly calls: InjectCall[] = [];
  private readonly open: Open[] = [];

  constructor(content: readonly ContentType[] = ["text"]) {
    this.supports = { content, boundary: "nextStep" };
  }

  inject(call: InjectCall): Promise<Verdict> {
    this.calls.push(call);
    return new Promise((resolve, reject) => this.open.push({ resolve, reject }));
  }

  /** The texts it was handed, in order. */
  get texts(): string[] {
    return this.calls.map(({ prompt }) =>
      prompt.map((block) => (block.type === "text" ? block.text : block.type)).join("|"),
    );
  }

  call(index: number): InjectCall {
    return this.calls[index] as InjectCall;
  }

  /** The verdict on the steer of that index; anything a driver may return, rubbish too. */
  verdict(index: number, verdict: unknown): void {
    this.open[index]?.resolve(verdict as Verdict);
  }

  fail(index: number, reason: unknown): void {
    this.open[index]?.reject(reason);
  }
}

/** A driver that says the same of every steer, at once. */
export const driverSaying = (verdict: Verdict): HandDriver => {
  const driver = new HandDriver();
  driver.inject = async (call) => {
    driver.calls.push(call);
    return verdict;
  };
  return driver;
};
