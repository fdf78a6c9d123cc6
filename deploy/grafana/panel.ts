/** The part of Grafana's dashboard format that is used here. */
export type Dashboard = {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly object[];
  readonly [field: string]: unknown;
};

export type Query = {
  readonly expr: string;
  /** Name of each line, with labels in double braces. */
  readonly legend: string;
};

export type Panel = {
  readonly title: string;
  /** What the panel shows, and when to act. */
  readonly description: string;
  readonly kind: 'timeseries' | 'stat' | 'table' | 'bargauge';
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** Width in columns, of 24. Default 8. */
  readonly width?: number;
  /** Values from which the panel shows the colour of a warning (`warn`) or an error (`bad`). */
  readonly thresholds?: { readonly warn: number; readonly bad: number };
};

/** Units as Grafana calls them. */
export type Unit = 'short' | 'reqps' | 'eps' | 's' | 'bytes' | 'Bps' | 'percentunit' | 'none';

export type Row = { readonly title: string; readonly panels: readonly Panel[] };

export type Variable = { readonly name: string; readonly label: string; readonly query: string };

const columns = 24;
const panelHeight = 7;
const defaultWidth = 8;
/** A variable that is chosen in the dashboard, so that the dashboard works in any Grafana. */
const datasource = { type: 'prometheus', uid: '${DS_PROMETHEUS}' };

/** Arranges rows of panels in a dashboard. The uid never changes, because links contain it. */
export function dashboard(
  uid: string,
  title: string,
  rows: readonly Row[],
  variables: readonly Variable[] = [],
): Dashboard {
  let id = 0;
  let y = 0;
  const panels = rows.flatMap((row) => {
    const placed: object[] = [
      { id: (id += 1), type: 'row', title: row.title, collapsed: false, gridPos: at(0, y, columns, 1), panels: [] },
    ];
    y += 1;
    let x = 0;
    for (const panel of row.panels) {
      const width = panel.width ?? defaultWidth;
      if (x + width > columns) {
        x = 0;
        y += panelHeight;
      }
      placed.push(panelJson((id += 1), panel, at(x, y, width, panelHeight)));
      x += width;
    }
    y += panelHeight;
    return placed;
  });
  return {
    uid,
    title,
    tags: ['sluice'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    links: [
      { type: 'dashboards', tags: ['sluice'], title: 'Sluice', asDropdown: true, includeVars: false, keepTime: true },
    ],
    templating: { list: [datasourceVariable, ...variables.map(variableJson)] },
    annotations: { list: [] },
    panels,
  };
}

function panelJson(id: number, panel: Panel, gridPos: object): object {
  const { title, description, kind, unit, queries, thresholds } = panel;
  const steps = [{ color: 'green', value: null }];
  const coloured =
    thresholds === undefined
      ? steps
      : [...steps, { color: 'orange', value: thresholds.warn }, { color: 'red', value: thresholds.bad }];
  const isNow = kind !== 'timeseries';
  return {
    id,
    type: kind,
    title,
    description,
    datasource,
    gridPos,
    fieldConfig: {
      defaults: { unit, min: unit === 'none' ? null : 0, thresholds: { mode: 'absolute', steps: coloured } },
      overrides: [],
    },
    options: optionsOf(kind),
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat: legend,
      ...(isNow ? { instant: true, range: false } : { instant: false, range: true }),
      ...(kind === 'table' ? { format: 'table' } : {}),
    })),
  };
}

function optionsOf(kind: Panel['kind']): object {
  const reduceOptions = { calcs: ['lastNotNull'], fields: '', values: false };
  switch (kind) {
    case 'timeseries':
      return { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } };
    case 'stat':
      return { colorMode: 'value', graphMode: 'none', textMode: 'auto', reduceOptions };
    case 'bargauge':
      return { displayMode: 'basic', orientation: 'horizontal', reduceOptions };
    case 'table':
      return { showHeader: true };
  }
}

const at = (x: number, y: number, w: number, h: number): object => ({ x, y, w, h });

const datasourceVariable = {
  name: 'DS_PROMETHEUS',
  label: 'Data source',
  type: 'datasource',
  query: 'prometheus',
  refresh: 1,
  hide: 0,
};

function variableJson({ name, label, query }: Variable): object {
  return {
    name,
    label,
    type: 'query',
    datasource,
    query: { query, refId: name },
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
    sort: 1,
  };
}
