/** A service that endpoints may declare in `uses`. It is declared in the same file as the type of its value. */
export type Service<Value> = {
  /** Name for error messages. */
  readonly name: string;
  /** Never set; exists only to carry the type. */
  readonly value?: () => Value;
};

/** The services that an endpoint needs in addition to the core ones, by the names that its handler uses. */
export type Uses = Readonly<Record<string, Service<unknown>>>;

export type ServiceValues<Used extends Uses> = {
  readonly [Name in keyof Used]: Used[Name] extends Service<infer Value> ? Value : never;
};

/**
 * Declares a service: the feature's wiring provides it, endpoints use it.
 *
 *     export const logFigures = defineService<LogLook>('log figures');
 *     services.provide(logFigures, createLogFigures(…));
 *     defineEndpoint({ uses: { logFigures }, handle: (_input, { logFigures }) => logFigures.read(), … });
 */
export function defineService<Value>(name: string): Service<Value> {
  return { name };
}

/** The values of the services of one process. */
export type Services = {
  /** Sets the value of a service. Throws if it already has one. */
  provide<Value>(service: Service<Value>, value: NoInfer<Value>): void;
  /**
   * The values of declared services. Throws for a service without a value, so that the start fails rather than a
   * request.
   */
  valuesOf<Used extends Uses>(uses: Used, user: string): ServiceValues<Used>;
};

export function createServices(): Services {
  const values = new Map<Service<unknown>, unknown>();
  return {
    provide(service, value) {
      if (values.has(service)) throw new Error(`the service "${service.name}" is provided twice`);
      values.set(service, value);
    },
    valuesOf<Used extends Uses>(uses: Used, user: string) {
      const named = Object.entries(uses).map(([name, service]) => {
        if (!values.has(service)) throw new Error(`${user} uses the service "${service.name}", which nothing provides`);
        return [name, values.get(service)] as const;
      });
      return Object.fromEntries(named) as ServiceValues<Used>;
    },
  };
}
