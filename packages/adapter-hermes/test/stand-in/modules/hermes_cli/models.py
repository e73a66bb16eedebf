def curated_models_for_provider(_provider):
    return [("scripted", "the one of the tests"), ("other", "")]


def parse_model_input(wanted, provider):
    before, colon, model = wanted.partition(":")
    return (before, model) if colon else (provider, wanted)


def detect_provider_for_model(_model, _provider):
    return None
