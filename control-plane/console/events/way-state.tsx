import type { ReactElement } from 'react';
import type { Way } from '../api/types.ts';
import { State } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';

const words: Readonly<Record<Way['decision'], readonly [Tone, string]>> = {
  send: ['good', 'Sent'],
  skip: ['off', 'Not sent here'],
  stop: ['off', 'Stopped'],
  globalStop: ['off', 'Stopped'],
  broken: ['bad', 'Cannot be sent'],
};

/** The rules' decision about an event at a destination. */
export function WayState({ decision }: Pick<Way, 'decision'>): ReactElement {
  const [tone, word] = words[decision];
  return <State tone={tone}>{word}</State>;
}
