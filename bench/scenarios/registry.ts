import type { Scenario } from '../scenario.ts';
import { track } from './track.ts';

/** Every scenario, in the order `npm run bench` lists them. */
export const scenarios: readonly Scenario[] = [track];
