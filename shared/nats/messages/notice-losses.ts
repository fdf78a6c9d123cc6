import type { Logger } from '../../runtime/logger.ts';
import type { LogConnection } from '../connection/connection.ts';
import { keepLoss } from './lost-messages.ts';
import { watchForLoss } from './predecessors.ts';
import type { LossWatch, LostMessage } from './predecessors.ts';

export type LossReporting = {
  readonly connection: LogConnection;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
  /** Say who noticed it. */
  readonly fields: Readonly<Record<string, unknown>>;
};

/** Watches what a reader of a stream is given, and reports which message the log has lost. */
export function noticeLosses(reporting: LossReporting & { readonly stream: string }, onLost: () => void): LossWatch {
  return watchForLoss(reporting.connection, reporting.stream, (lost) => {
    onLost();
    reportLoss(reporting, lost);
  });
}

/** Says that the log has lost a message, and keeps that for the doctor. */
export function reportLoss({ connection, logger, fields }: LossReporting, lost: LostMessage): void {
  logger.error({ ...fields, ...lost }, 'the log has lost a message that it had acknowledged');
  keepLoss(connection, lost).catch((error: unknown) => {
    logger.warn({ ...fields, err: error }, 'recording a loss for the doctor failed');
  });
}
