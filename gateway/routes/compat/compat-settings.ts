import type { Static, TObject } from 'typebox';
import { count } from '../../../shared/runtime/variables.ts';
import type { JsonLimits } from '../../payload/read-json.ts';
import type { TimeWindow } from '../../payload/time-window.ts';
import type { InflateSettings } from '../../http/inflate.ts';

export const compatEnv = {
  COMPAT_BATCH_ROWS_MAX: count(
    'Messages in one request of a library of another service: some of them know no limit of their own',
    10_000,
  ),
};

export type CompatSettings = {
  /** Of a whole request, after decompression. */
  readonly bodyBytesMax: number;
  readonly rowsMax: number;
  /** Of one event, as it is stored. */
  readonly eventBytesMax: number;
  readonly limits: JsonLimits;
  readonly timeWindow: TimeWindow;
  readonly inflate: InflateSettings;
};

export type CompatVariables = Static<TObject<typeof compatEnv>>;
