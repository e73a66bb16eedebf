/** How every command ends. */
export const EXIT = { fine: 0, notFine: 1, notRun: 2, interrupted: 130 } as const;
