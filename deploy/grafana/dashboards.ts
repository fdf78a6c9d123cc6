import { controlPlane } from './control-plane.ts';
import { destinations } from './destinations.ts';
import { gateway } from './gateway.ts';
import { overview } from './overview.ts';
import type { Dashboard } from './panel.ts';
import { workerPool } from './worker-pool.ts';

/** All dashboards. A new one is a file in this folder and an entry here. */
export const dashboards: readonly Dashboard[] = [overview, gateway, destinations, workerPool, controlPlane];

/** Every query of a dashboard, with the title of its panel. */
export function queriesOf({ title, panels }: Dashboard): { readonly panel: string; readonly expr: string }[] {
  return panels.flatMap((panel) => {
    const { title: panelTitle, targets } = panel as { readonly title: string; readonly targets?: readonly Target[] };
    return (targets ?? []).map(({ expr }) => ({ panel: `${title}: ${panelTitle}`, expr }));
  });
}

type Target = { readonly expr: string };
