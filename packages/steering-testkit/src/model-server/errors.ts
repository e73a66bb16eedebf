export type ModelServerErrorCode = "invalidScript" | "unknownHold" | "portUnavailable" | "waitEnded";

/**
 * What the model server has to complain about to the test that uses it; recognise it by its `code`:
 * `invalidScript` a reply that cannot be played, `unknownHold` a release of what was never held,
 * `portUnavailable` the server cannot listen, `waitEnded` closed or reset while a test waited for something.
 */
export class ModelServerError extends Error {
  readonly code: ModelServerErrorCode;

  constructor(code: ModelServerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ModelServerError";
    this.code = code;
  }
}
