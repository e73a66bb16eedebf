class ProviderConfig:
    def __init__(self, *variables):
        self.api_key_env_vars = variables


PROVIDER_REGISTRY = {"custom": ProviderConfig("STAND_IN_API_KEY")}
