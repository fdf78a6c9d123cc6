import type { JsonLimits } from '../../payload/read-json.ts';
import type { TimeWindow } from '../../payload/time-window.ts';
import type { InflateSettings } from '../../http/inflate.ts';

/** Maximum number of messages in one request: some of these libraries have no limit. */
export const compatRowsMax = 10_000;

export type CompatSettings = {
  /** Limit of a whole request, after decompression. */
  readonly bodyBytesMax: number;
  readonly rowsMax: number;
  /** Limit of one event as stored. */
  readonly eventBytesMax: number;
  readonly limits: JsonLimits;
  readonly timeWindow: TimeWindow;
  readonly inflate: InflateSettings;
};
